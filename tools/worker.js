// Search of the site runs in a worker, which browsers refuse to a page that is opened from a folder. There, and
// nowhere else, a hidden frame does the work: the same script, the same messages, nothing from the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.waiting = [];
      this.inside.importScripts = () => {};
      this.inside.postMessage = (data) => {
        const told = new MessageEvent("message", { data });
        this.dispatchEvent(told);
        if (this.onmessage) this.onmessage(told);
      };
      const script = this.inside.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      script.onload = () => {
        const all = this.waiting;
        this.waiting = null;
        all.forEach((data) => this.postMessage(data));
      };
      this.inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else setTimeout(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
