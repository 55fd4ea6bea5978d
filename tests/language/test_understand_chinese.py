"""What Chinese messages, traditional and simplified, are and say; a third of each table must not match."""

from __future__ import annotations

import pytest

from lamina.language.commands import commands_in
from lamina.language.events import event_type, importance
from lamina.language.facts import profile_fact
from lamina.language.hearing import hear
from lamina.language.hints import Hint, promotion_hint
from lamina.language.rulebook import rulebook
from lamina.language.signal import low_signal
from lamina.model import Kind, Role, Space

KINDS = {
    Kind.CORRECTION: [
        "其實我叫王大明",
        "事实上，我住在台北",
        "不是茶而是咖啡",
        "不是八点，是九点",
        "更正：端口是8080",
        "我说错了，是周五",
        "不對，是五點",
        "抱歉，我記錯了，是三樓",
    ],
    Kind.PREFERENCE: [
        "我喜歡茶",
        "我比较喜欢喝咖啡",
        "我个人偏好深色模式",
        "我想要暗色主题",
        "我希望回答简短",
        "我讨厌开会",
        "永遠不要用制表符",
        "千万别用生产数据库",
        "喜歡喝茶",
        "老实说，我喜欢茶",
        "我喜欢茶，你呢？",
    ],
    Kind.DECISION: [
        "我们决定使用PostgreSQL",
        "我們最終決定採用微服務",
        "我们选择Rust",
        "就用Rust吧",
        "我們用Kafka吧",
        "用空格缩进",
        "请用制表符",
        "以后都用TypeScript",
        "團隊一致同意使用Go",
        "我们会用Kafka",
    ],
    Kind.FACT: [
        "我叫小明",
        "我的名字是李雷。",
        "我的時區是台北",
        "我的母语是中文",
        "我的專案是光譜",
        "我的编辑器是Vim",
        "用公制单位",
        "我叫王大明，你呢？",
    ],
    Kind.CONTEXT: [
        "我用python",
        "用户登录失败",
        "费用太高了",
        "今天下雨了",
        "我是工程师",
        "使用说明在这里",
        "颜色由主题决定",
        "决定性因素是价格",
        # denied
        "我不喜歡香菜",
        "我們還沒決定",
        "我们不用Redis",
        "不要用制表符",
        "我不叫小明",
        "我没说我喜欢茶",
        # somebody else's
        "他喜欢咖啡",
        "我妈喜欢花",
        "他說我喜歡茶",
        "他说：“我喜欢茶”",
        "「我喜歡茶」",
        "小明说我们决定用Redis",
        "听说我们决定用Go",
        # asked and supposed
        "我们应该用Redis吗？",
        "要不要用Redis",
        "你喜欢茶吗",
        "我叫什么名字",
        "我们该用哪个数据库",
        "如果我们决定用Redis",
        "為什麼我們要用Redis",
        "我们需要做个决定",
        "不只是茶，还有咖啡",
    ],
}

FACTS = {
    "我叫小明": ("name", "小明"),
    "其實我叫王大明": ("name", "王大明"),
    "我叫王大明 我喜歡茶": ("name", "王大明"),
    "您好，我叫 Alice，很高興認識你": ("name", "Alice"),
    "我的名字是李雷。": ("name", "李雷"),
    "我的名字叫做陈晨": ("name", "陈晨"),
    "叫我阿明就好": ("name", "阿明"),
    "你可以叫我小王": ("name", "小王"),
    "大家都叫我阿強": ("name", "阿強"),
    "我的時區是台北": ("timezone", "Asia/Taipei"),
    "我的时区是ＵＴＣ＋８": ("timezone", "UTC+08:00"),
    "我在东八区": ("timezone", "UTC+08:00"),
    "时区：asia/shanghai": ("timezone", "Asia/Shanghai"),
    "我的母语是中文": ("language", "中文"),
    "語言偏好：英文": ("language", "英文"),
    "我的專案叫做「光」": ("project", "光"),
    "我正在做一个叫Aurora的项目": ("project", "Aurora"),
    "我的编辑器是Vim": ("editor", "Vim"),
    "我用VS Code作为编辑器": ("editor", "VS Code"),
    "用公制单位": ("units", "metric"),
    "請使用英制單位": ("units", "imperial"),
    "我的名字不是李雷": None,
    "我不叫小明": None,
    "別叫我老王": None,
    "我叫了外卖": None,
    "我叫他来": None,
    "老板叫我加班": None,
    "我哥叫小明": None,
    "你知道我叫小明吗": None,
    "他说我叫小明": None,
    "服务器的时区是UTC": None,
    "我的项目延期了": None,
    "不要用英制": None,
    "他用英制": None,
}

HINTS = {
    "幫我記住：我喜歡黑咖啡": (Space.USER, "hint:remember_for_me"),
    "请替我记住这件事": (Space.USER, "hint:remember_for_me"),
    "我们用空格，帮我记住": (Space.USER, "hint:remember_for_me"),
    "记住这个关于我的事": (Space.USER, "hint:remember_about_me"),
    "帮我把这个存下来": (Space.USER, "hint:save_for_me"),
    "為專案記住：我們用空格": (Space.PROJECT, "hint:remember_for_project"),
    "给项目记住我们用空格": (Space.PROJECT, "hint:remember_for_project"),
    "把这个记到项目记忆里": (Space.PROJECT, "hint:project_memory"),
    "帮我把这个记到项目记忆里": (Space.PROJECT, "hint:project_memory"),
    "項目記憶：每週五發布": (Space.PROJECT, "hint:project_memory"),
    "让所有人都知道我们每周发布": (Space.SYSTEM, "hint:remember_for_everyone"),
    "為所有人記住這個": (Space.SYSTEM, "hint:remember_for_everyone"),
    "为系统记住这一点": (Space.SYSTEM, "hint:remember_for_system"),
    "存到系統記憶": (Space.SYSTEM, "hint:system_memory"),
    "能帮我记住吗？": None,
    "他說「幫我記住」": None,
    "他说帮我记住这个": None,
    "不要帮我记住这个": None,
    "别为项目记住这个": None,
    "项目记忆满了": None,
    "帮我保存文件": None,
    "帮我记得买牛奶": None,
    "大家都知道我喜欢茶": None,
    "为什么要为项目记住这个": None,
}

SAYS_NOTHING = ["你好", "謝謝！", "好的，谢谢", "哈哈哈", "呵呵", "666", "2333", "收到", "嗯嗯好的", "再見👋"]
SAYS_SOMETHING = ["哈哈，我叫小明", "谢谢你的文件", "好的，我们用Go", "你好吗", "好书推荐", "是不是"]

EMPHATIC = ["必須先測試", "总是先测试", "永远先测试", "避免全局变量", "务必备份", "千万要备份"]
PLAIN = ["不一定要测试", "一定程度上可以", "先测试"]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in KINDS for text in KINDS[kind]])
def test_the_kind_of_a_message(kind: Kind, text: str) -> None:
    assert event_type(text, Role.USER).kind is kind


@pytest.mark.parametrize(("text", "expected"), FACTS.items())
def test_the_fact_in_a_message(text: str, expected: tuple[str, str] | None) -> None:
    fact = profile_fact(text)
    assert (fact and (fact.key, fact.value)) == expected


@pytest.mark.parametrize(("text", "expected"), HINTS.items())
def test_where_a_message_asks_to_be_kept(text: str, expected: tuple[Space, str] | None) -> None:
    assert promotion_hint(text) == (expected and Hint(*expected))


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_a_message_that_says_nothing(text: str) -> None:
    assert low_signal(text)


@pytest.mark.parametrize("text", SAYS_SOMETHING)
def test_a_message_that_says_something(text: str) -> None:
    assert not low_signal(text)


@pytest.mark.parametrize("text", EMPHATIC)
def test_a_word_of_emphasis_is_a_point(text: str) -> None:
    assert importance(Kind.DECISION, Role.USER, text).reasons == ("event:decision", "source:user", "emphasis")


@pytest.mark.parametrize("text", PLAIN)
def test_a_word_that_only_looks_emphatic_is_none(text: str) -> None:
    assert importance(Kind.DECISION, Role.USER, text).reasons == ("event:decision", "source:user")


def test_whoever_is_told_to_do_something_is_not_called_that() -> None:
    said = hear("以後叫我訂便當時你要幫我想到這點", rulebook())
    assert commands_in(said) == []
    assert [one.value for one in commands_in(hear("以後叫我阿寶就好", rulebook()))] == ["阿寶"]
