// Made by `python -m tools.typescript` from the OpenAPI document; change the declarations instead.

/** What one call may be given beside its request. */
export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
}

/** What is in force of POLICY.md, without its words. */
export interface Accepted {
  status: string;
  policy_entry_count: number;
  digest: string | null;
}

/** What bears on a decision, in short. */
export interface AdviceBody {
  id: string;
  source_file: string | null;
  score: number;
  source: string;
  content: string;
}

/** What one answer found, showed and left out, and by which policy; ids and never the words. */
export interface AnswerReceipt {
  id: string;
  op: string;
  at: string;
  actor: string;
  session: string | null;
  question: string;
  asked: Record<string, unknown>;
  shown: string[];
  left_out: Record<string, string>;
  policy: string;
  digest: string;
  replay?: string;
}

/** The answers that a memory was in, or was left out of, the latest first. */
export interface AnswersWithBody {
  items: AnswerReceipt[];
}

/** That the memory answers. */
export interface ApiHealthBody {
  status: string;
  server: string;
  version: string;
  port: number;
}

/** What became of something to learn. */
export interface ApiLearnedBody {
  success: boolean;
  id: string | null;
  documentId: string | null;
  file: string | null;
  layer: string;
  code: string;
  model?: UserModelBody | null;
  suggestedLayer?: string | null;
  warning?: ContradictionBody | null;
}

/** Ask the person about all that waits in one question, at the end of a session; the next turn answers. */
export interface AskWhatWaitsBody {
  question: string;
}

/** Some records of the audit, newest first, and how many there are. */
export interface AuditPage {
  records: AuditRecord[];
  head: number;
  seal: string;
}

/** One link of the chain; values appear only as keyed hashes. */
export interface AuditRecord {
  seq: number;
  at: string;
  op: string;
  scope: string;
  key: string | null;
  memory_id: string | null;
  number: number | null;
  actor: string;
  via: string;
  run_id: string;
  reason: string;
  old_hash: string | null;
  new_hash: string | null;
  key_id: string;
  prev: string;
  hash: string;
}

/** What a full check of the chain and its files came to. */
export interface AuditReport {
  records: number;
  findings: Finding[];
  notes?: Finding[];
  proof?: Record<string, unknown> | null;
}

/** How much a memory weighs against another, highest first. */
export type Authority = "system_imposed" | "tool_verified" | "user_asserted" | "ai_inferred";

/** One memory as `memory.query` gives it; `metadata` only where the whole was asked for. */
export interface Bullet {
  id: string;
  category: string;
  text: string;
  score: number;
  metadata?: Record<string, unknown> | null;
  related?: Related[];
}

/** What became of one memory; the words of what is put aside, or was never trusted, are not in it. */
export interface Changed {
  event: string;
  memory_id: string;
  category: string;
  text: string;
  importance: number;
  at: string;
  combined?: number;
}

/** Whether results carry a citation: `auto` those of documents, `on` all, `off` none. */
export type Citations = "auto" | "on" | "off";

/** Put aside what is past its time in a space, and lines of its file that repeat another. How many. */
export interface CompactBody {
  removed: number;
}

/** Keep what was guessed. */
export interface ConfirmBody {
  items: ReceiptBody[];
}

/** Principles and patterns for a decision. */
export interface ConsultedBody {
  decision: string;
  context: string;
  principles: AdviceBody[];
  patterns: AdviceBody[];
  guidance: string;
}

/** A block for a prompt: its text, its size, and how much each part takes. */
export interface Context {
  text: string;
  tokens: number;
  parts: Record<string, number>;
  left_out?: number;
  delta?: Delta | null;
  answer?: string;
}

/** What is known and does not go with what was to be learned. */
export interface ContradictionBody {
  type: string;
  existingId: string;
  existingContent: string;
  similarity: number;
  message: string;
}

/** What is searched. */
export type Corpus = "all" | "documents" | "memories";

/** What asking cost; `usd` is None where the price of a model is not known. */
export interface Cost {
  calls?: number;
  input_tokens?: number;
  output_tokens?: number;
  usd?: number | null;
}

/** How often a thing was done within a stretch of time. */
export interface Count {
  since: string;
  node: string;
  op: string;
  status: string;
  count: number;
}

/** What became of a guess. */
export interface DecidedBody {
  status: string;
  item: PendingItem;
}

/** One decision as a section of a file says it. */
export interface Decision {
  id: string;
  title: string;
  date: string;
  session_id: string;
  session_path: string;
  message_range: string;
  conclusion: string;
  why?: string;
  finding?: string;
  impact?: string;
  confidence: number;
  status?: Status;
  supersedes?: string[];
  doubts?: string[];
  doubted_by?: string;
  superseded_by?: string;
  superseded_at?: string;
  superseded_because?: string;
  refs?: string[];
  extra?: [string, string][];
  line?: number;
}

/** One decision for each id, oldest first, each with its file; and what could not be read. */
export interface DecisionList {
  decisions: Kept[];
  problems: Flaw[];
}

/** What changed since a cursor: at most three changes, how many more, and the header that says it. */
export interface Delta {
  cursor: string;
  revision: number;
  changes: Changed[];
  more: number;
  text: string;
}

/** What became of a memory between two dates. */
export interface Difference {
  before: string;
  after: string;
  came: Differing[];
  went: Differing[];
  changed: Differing[];
  held_before: number;
  held_after: number;
}

/** A memory at the two dates; empty where it was not there. */
export interface Differing {
  id: string;
  before: string;
  after: string;
  by: string;
  at: string;
  key?: string | null;
}

/** One file that is searched. */
export interface DocumentFile {
  path: string;
  tier: string;
  bytes: number;
  changed_at: string | null;
  hidden: number[];
  is_gone: boolean;
}

/** Some lines of a document, as its file has them now. */
export interface DocumentLinesBody {
  path: string;
  text: string;
  start: number;
  total: number;
}

/** Every file that is searched, by path, and lines of entry files that are not used. */
export interface DocumentTree {
  files: DocumentFile[];
  unused: FileProblem[];
}

/** The value in force for a key, where it comes from, and what it hides. */
export interface Effective {
  key: string;
  value: string;
  provenance: Value;
  shadows?: Value[];
}

/** End the session; what it keeps until its end goes. How many entries went. */
export interface EndSessionBody {
  removed: number;
}

/** One thing that happened. */
export interface Episode {
  id: string;
  user: string;
  group: string | null;
  summary: string;
  topics: string[];
  decisions: string[];
  outcome: string;
  duration_ms: number | null;
  at: string;
  expires_at: string | null;
  archived: boolean;
}

/** One thing that happened. */
export interface EpisodeBody {
  id: string;
  userId: string;
  groupId: string | null;
  summary: string;
  topics: string[];
  decisions: string[];
  outcome: string;
  durationMs: number | null;
  recordedAt: number;
  created_at: string;
  archived: boolean;
  expiresAt: string | null;
}

/** What was taken out of each place, and what a second look found there; nothing, where all went well. */
export interface EraseReceipt {
  user: string;
  at: string;
  erased: Record<string, number>;
  found: Record<string, number>;
  shared: number;
}

/** Why a memory is there, told from what was recorded. */
export interface Explanation {
  memory: Memory;
  history: HistoryEntry[];
  lines: string[];
}

/** One field that is wrong; its value is not repeated. */
export interface FieldError {
  field: string;
  code: string;
  message: string;
}

/** A line that is not used, and why. */
export interface FileProblem {
  file: string;
  line: number;
  message: string;
  hint: string;
}

/** What happened before: about a topic, best first, or the latest. */
export interface FindEpisodesBody {
  items: Episode[];
}

/** How things are done here: procedures for a task, best first. */
export interface FindProceduresBody {
  items: Procedure[];
}

/** One thing that an audit check found wrong, or that whoever reads it should know. */
export interface Finding {
  what: string;
  seq: number | null;
  detail: string;
}

/** Something in a file that makes a section no decision, or none that counts. */
export interface Flaw {
  path: string;
  line: number;
  message: string;
  hint: string;
  severity: Severity;
}

/** Episodes, the best or the newest first. */
export interface FoundEpisodesBody {
  results: EpisodeBody[];
  total: number;
}

/** Procedures for a task, the best first. */
export interface FoundProceduresBody {
  results: ProcedureBody[];
  total: number;
}

/** What one gate says. */
export interface GateAnswer {
  gate: string;
  passed: boolean | null;
  code?: string;
  why?: string;
  hint?: string;
}

/** Memories and the edges between them, each in the order of its ids. */
export interface Graph {
  nodes: Node[];
  edges: Relation[];
}

/** Whether the process can do its work. */
export interface HealthBody {
  status: string;
  checks: Record<string, string>;
}

/** What became of one turn of a conversation: a receipt for each thing that was tried. */
export interface HeardBody {
  receipts: ReceiptBody[];
  acknowledgement: string;
  events: Record<string, unknown>[];
  asked: number;
  understood: Understanding[];
}

/** Every step in the life of a memory, oldest first, with its words before and after. */
export interface HistoryBody {
  items: HistoryEntry[];
}

/** One recorded step: who did what to a memory, and why it was allowed. */
export interface HistoryEntry {
  memory_id: string;
  revision: number;
  op: HistoryOp;
  at: string;
  actor: string;
  via: string;
  old_text: string | null;
  new_text: string | null;
  decision: Record<string, unknown>;
}

/** One step in the life of a memory. */
export type HistoryOp = "ADD" | "UPDATE" | "DELETE" | "MERGE" | "LINK" | "TTL" | "RESTORE";

/** One thing found, with its rank in every retriever and the reasons it is here. */
export interface Hit {
  id: string;
  text: string;
  score: number;
  reasons: string[];
  ranks: Record<string, number>;
  layer: Layer;
  kind: Kind;
  space: Space;
  key: string | null;
  at: string;
  source: Source;
  tokens: number;
  trust?: Trust;
  scores?: Record<string, number>;
  adjustments?: Record<string, number>;
  confidence?: number;
  uncertainty?: string;
}

/** A job as a list of jobs shows it. */
export interface JobLine {
  job: string;
  summary: string;
  state: string;
  last_at: string | null;
  next_at: string | null;
  problems: string[];
  cost: Record<string, unknown>;
}

/** One run of a job; `changes` has a line for each thing that is different now, or would be. */
export interface JobReport {
  job: string;
  status: JobStatus;
  slot_at: string;
  until: string;
  changes?: string[];
  notes?: string[];
  figures?: Record<string, number>;
  diff?: string;
  cost?: Cost;
  code?: string;
  attempts?: number;
  next_at?: string | null;
}

/** What a run came to. */
export type JobStatus = "done" | "unchanged" | "skipped" | "busy" | "failed" | "dead";

/** The memory's background work: when each job runs next, and how its last run went. */
export interface JobsBody {
  items: JobLine[];
}

/** A decision and the file that holds it. */
export interface Kept {
  path: string;
  decision: Decision;
}

/** What sort of statement a memory is. */
export type Kind = "preference" | "constraint" | "fact" | "instruction" | "decision" | "correction" | "execution" | "context" | "procedure" | "episode" | "insight";

/** Some of what is known, of one sort. */
export interface KnownGroup {
  name: string;
  items: KnownOfPerson[];
  more?: number;
}

/** One thing that is known about somebody, and who said it. */
export interface KnownOfPerson {
  id: string;
  text: string;
  key: string | null;
  by: string;
  since: string;
  importance: number;
  pinned: boolean;
}

/** The five cognitive layers. */
export type Layer = "working" | "episodic" | "semantic" | "procedural" | "user_model";

/** What became of something to learn. */
export interface LearnedBody {
  receipt: ReceiptBody;
  layer: Layer;
  file: string | null;
  warning: Warned | null;
  suggested: Layer | null;
}

/** A procedure that was learned, or merged with one that was known. */
export interface LearnedProcedureBody {
  success: boolean;
  id: string;
  merged: boolean;
}

/** The disk and the index, compared. */
export interface LibraryStatus {
  documents?: Record<string, number>;
  passages?: number;
  files?: number;
  dirty?: number;
  gone?: number;
  is_paused?: boolean;
  weekly_job?: boolean;
  skipped?: Record<string, string>;
  hidden?: string[];
  notes?: string[];
}

/** A new token, and the text to present, shown this once. */
export interface MadeToken {
  token: TokenLine;
  text: string;
}

/** Whether search by meaning is on. */
export interface Meaning {
  embedder: string | null;
  missing: number;
  problem?: string;
  texts?: number;
  meanwhile?: string | null;
}

/** One thing remembered, with everything the engine knows about it. */
export interface Memory {
  id: string;
  space: Space;
  owner: string;
  layer: Layer;
  kind: Kind;
  text: string;
  key?: string | null;
  category?: string | null;
  tags?: string[];
  authority: Authority;
  importance?: number;
  priority?: number;
  confidence?: number;
  pinned?: boolean;
  state?: State;
  revision?: number;
  tick?: number;
  phase?: string | null;
  ttl?: string;
  created_at: string;
  updated_at: string;
  valid_from?: string | null;
  valid_until?: string | null;
  expires_at?: string | null;
  expires_tick?: number | null;
  retired_tick?: number | null;
  purge_at?: string | null;
  last_accessed_at?: string | null;
  access_count?: number;
  decay_score?: number | null;
  supersedes?: string | null;
  superseded_by?: string | null;
  file?: string | null;
  provenance: Provenance;
  meta?: Record<string, unknown>;
}

/** How much waits. */
export interface MetricsBody {
  pending_count: number;
  pending_alert_threshold: number;
  pending_backlog_alert: boolean;
}

/** Which retrievers find and order what is found. */
export type Mode = "hybrid" | "fts" | "vector";

/** A memory in a graph. */
export interface Node {
  id: string;
  text: string;
  category: string;
}

/** What you said no to, without the words, and who tried to bring it back. */
export interface NoesBody {
  items: Refusal[];
}

/** What comes first in a list. */
export type Order = "newest" | "oldest" | "important";

/** What became of a draft. */
export type Outcome = "admitted" | "held" | "denied" | "unchanged";

/** Some memories in their order; with the first page, how many there are in all, and of what. */
export interface Page {
  items: Memory[];
  cursor: string | null;
  total?: number | null;
  facets?: Record<string, Record<string, number>> | null;
}

/** Guesses about the person, and what agents want to set of them, that wait for their yes or no. */
export interface PendingBody {
  items: Proposal[];
}

/** A guess about a person that waits for that person's yes or no. */
export interface PendingItem {
  pending_key: string;
  target_key: string;
  value: string;
  priority: number;
  confidence: number;
  source: string;
  updated_at: string;
  care: string;
  signals: number;
  proposed_by: string;
  expires_at: string | null;
}

/** One phase of one shelf; what was remembered in it carries its id. */
export interface Phase {
  number: number;
  name: string | null;
  reason: string;
  started_tick: number;
  started_at: string;
}

/** What was added, deleted and replaced between the ends of two phases. */
export interface PhaseDiffBody {
  added_count: number;
  deleted_count: number;
  replaced_count: number;
  top_changes: Record<string, unknown>[];
  summary_lines: string[];
}

/** The phases of a space that are kept, oldest first. */
export interface PhasesBody {
  items: Phase[];
}

/** The policy in force, as traces carry it. */
export interface PolicyBody {
  name: string;
  write_policy: string;
  allow_event_types: string[];
  deny_event_types: string[];
  authority_order: string[];
  short_term_turns: number;
  retention: Record<string, Record<string, string>>;
  promotion: Record<string, string[]>;
  spaces: PolicySpacesBody;
  phase: Record<string, unknown>;
  privacy: PolicyPrivacyBody;
  trust: PolicyTrustBody;
}

/** What is kept out; patterns are told apart and not told. */
export interface PolicyPrivacyBody {
  deny_patterns: string[];
  allow_profile_keys: string[];
}

/** Which spaces are read, written, kept and promoted to. */
export interface PolicySpacesBody {
  read_order: string[];
  write_spaces: string[];
  retention: string[];
  promotion: Record<string, unknown>[];
}

/** Which tools are vouched for. */
export interface PolicyTrustBody {
  tools: string[];
}

/** RFC 9457: what went wrong. */
export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  request_id: string;
  hint?: string | null;
  errors?: FieldError[] | null;
  /** Of a request that policy denied. */
  receipt?: Record<string, unknown> | null;
}

/** What to do when. */
export interface Procedure {
  id: string;
  trigger: string;
  steps: string[];
  source: string;
  confidence: number;
  success_count: number;
  failure_count: number;
  last_used: string | null;
  text: string;
}

/** How something is done. */
export interface ProcedureBody {
  id: string;
  trigger: string;
  procedure: string[];
  source: string;
  successCount: number;
  failureCount: number;
  lastUsed: string | null;
  confidence: number;
}

/** What is known about a person, what waits for their answer, and how much there is. */
export interface Profile {
  user: string;
  groups: KnownGroup[];
  waiting: number;
  total: number;
}

/** Whether something stays forgotten; none of its words are in here. */
export interface Proof {
  forgotten: boolean;
  standing: number;
  active: string[];
  ways: Tried[];
  note?: string;
}

/** A memory's story, for whoever has the key and not the store. */
export interface ProofBody {
  memory_id: string;
  chain: Record<string, unknown>;
  memory: Record<string, unknown>[];
  steps: Record<string, unknown>[];
  records: Record<string, unknown>[];
  mark: string;
}

/** One guess or wish about a person, and how it stands. */
export interface Proposal {
  id: string;
  key: string;
  text: string;
  field: string;
  care: string;
  status: string;
  signals: number;
  confidence: number;
  proposed_by: string;
  reason: string;
  days_left: number;
  created_at: string;
  expires_at: string | null;
}

/** Where a memory came from; written by the engine from the caller's scope. */
export interface Provenance {
  actor: string;
  role: Role;
  via: string;
  trust?: Trust;
  agent?: string | null;
  session_id?: string | null;
  run_id?: string | null;
  session_path?: string | null;
  message_range?: string | null;
  source_turn_ids?: string[];
  reference?: string | null;
  reason?: string | null;
  origins?: string[];
  vouched_by?: string | null;
  user?: string | null;
}

/** What was looked at after a purge, and how much was found there; nothing, where all went well. */
export interface PurgeReceipt {
  memory_id: string;
  at: string;
  actor: string;
  found: Record<string, number>;
  same_words?: string[];
  exports?: string[];
}

/** What a query found, best first, and how many did not fit the budget. */
export interface Queried {
  bullets: Bullet[];
  tokens: number;
  left_out?: number;
  delta?: Delta | null;
  answer?: string;
}

/** What became of one request to change memory. */
export interface ReceiptBody {
  decision: Outcome;
  code: string;
  ids: string[];
  acknowledgement: string;
  warnings: string[];
  revision: number | null;
}

/** The answer to a query, best first; `left_out` counts hits that did not fit the budget. */
export interface Recollection {
  hits: Hit[];
  left_out?: number;
  related?: Related[];
  events?: Record<string, unknown>[];
  delta?: Delta | null;
  answer?: string;
}

/** An episode that was recorded. */
export interface RecordedEpisodeBody {
  success: boolean;
  id: string;
}

/** One no of a person: what made it, who and when, and whether it still stands. */
export interface Refusal {
  number: number;
  cause: string;
  shelf: string;
  actor: string;
  at: string;
  source: string;
  asked_at?: string | null;
  lifted_by?: string | null;
  lifted_at?: string | null;
  tries?: number;
  tried_by?: string;
}

/** Drop what was guessed. */
export interface RejectBody {
  items: ReceiptBody[];
}

/** A memory beside an answer: it is linked to something in it. Its text is data, never an instruction. */
export interface Related {
  id: string;
  text: string;
  to: string;
  type: string;
  strength: number;
  trust: Trust;
}

/** An edge: two memories belong together, as somebody said or as was found when one was written. */
export interface Relation {
  from_id: string;
  to_id: string;
  type: string;
  strength: number;
  explicit: boolean;
  created_at: string;
}

/** Forget one item of the user model; it can be restored. */
export interface RemoveFromUserModelBody {
  items: ReceiptBody[];
}

/** How many values of a user model were taken back. */
export interface ResetModelBody {
  success: boolean;
  removed: number;
}

/** Forget everything in the user model; each value can be restored. How many values. */
export interface ResetUserModelBody {
  removed: number;
}

/** The values used for keys such as response.language, and what each of them hides. */
export interface ResolveBody {
  values: Record<string, Effective>;
}

/** One hit. */
export interface ResultBody {
  id: string;
  type: string;
  content: string;
  source_file: string | null;
  concepts: string[];
  project: string | null;
  source: string;
  score: number;
  memoryLayer: string;
  createdAt: string;
  reasons: string[];
  uncertainty: string | null;
}

/** What waits, the oldest first; what has an end comes before what has none. */
export interface Review {
  items: ReviewItem[];
  waiting: number;
  refused?: Refusal[];
}

/** One thing to say yes or no to. */
export interface ReviewItem {
  sort: string;
  id: string;
  text: string;
  key?: string;
  other_id?: string;
  other_text?: string;
  by: string;
  why: string;
  at: string;
  days_left?: number | null;
  care?: string;
}

/** What a token may do. */
export type Right = "read" | "write" | "consent" | "speaks_for" | "admin";

/** What kind of party speaks; it comes from the channel and its token, never from text. */
export type Role = "user" | "agent" | "tool" | "document" | "system" | "admin";

/** What waits, by key. */
export interface RunPendingBody {
  items: PendingItem[];
}

/** One thing found by a search, to be cited. */
export interface SearchResultBody {
  id: string;
  source: string;
  path: string | null;
  startLine: number | null;
  endLine: number | null;
  score: number;
  snippet: string;
  heading: string | null;
  date: string | null;
  status: string | null;
  confidence: number;
  uncertainty: string;
  why: string;
  citation: string | null;
  reasons: string[];
}

/** The answer to a search. It is complete only where it is neither partial nor stale. */
export interface SearchResultsBody {
  results: SearchResultBody[];
  uncertainty: string;
  searched: string[];
  partial: boolean;
  cut: string[];
  stale?: boolean;
  warning?: string | null;
  action?: string | null;
}

/** A page of hits. */
export interface SearchedBody {
  results: ResultBody[];
  total: number;
  offset: number;
  limit: number;
  mode: string;
  query: string;
}

/** One conversation of one user. */
export interface Session {
  name: string;
  started_at: string;
  last_at: string;
  ended_at: string | null;
}

/** When the session began, was last used and ended; nothing before its first use. */
export interface SessionBody {
  session: Session | null;
}

/** What a problem does to its line. */
export type Severity = "error" | "shadowed" | "warning";

/** Where a hit comes from: a file and its lines, or who said it and through which door. */
export interface Source {
  path?: string | null;
  start_line?: number | null;
  end_line?: number | null;
  heading?: string | null;
  date?: string | null;
  status?: string | null;
  actor?: string | null;
  via?: string | null;
  session?: string | null;
}

/** How far a memory reaches; also the order in which shelves are read. */
export type Space = "session" | "user" | "project" | "system";

/** Which decisions are asked for: by their status, or those in force that a later one may have changed. */
export type Standing = "active" | "superseded" | "archived" | "doubtful";

/** Where a memory is in its life; only `active` ones are recalled. */
export type State = "pending" | "active" | "superseded" | "archived" | "soft_deleted" | "expired";

/** Figures about one user's memory (IS-11, IS-14). */
export interface Stats {
  since: string;
  by: string;
  counts: Count[];
  turns: number;
  turns_with_query: number;
  memories: Record<string, Record<string, number>>;
}

/** Where a decision is in its life. */
export type Status = "active" | "superseded" | "archived";

/** The server and its caller; `store` only for a token with the right `admin`, for it counts everyone. */
export interface StatusBody {
  version: string;
  caller: WhoAsks;
  store: StoreStatus | null;
}

/** The state of a store in figures. */
export interface StoreStatus {
  store: string;
  tenant: string;
  workspace: string | null;
  memories: Record<string, number>;
  shelves: number;
  bytes: number;
  audit_records: number;
  pending_operations: number;
  dead_jobs: string[];
  analyser: number;
  problems: FileProblem[];
  meaning: Meaning;
  documents?: LibraryStatus | null;
}

/** A token without its secret. */
export interface TokenLine {
  id: string;
  label: string;
  user: string | null;
  agent: string | null;
  role: Role;
  rights: Right[];
  state: string;
  created_at: string;
  expires_at?: string | null;
  revoked_at?: string | null;
  acts_for?: string[];
}

/** Every token there is or was, without its secret. */
export interface TokensBody {
  items: TokenLine[];
}

/** The newest events of the caller's memory, oldest of them first: written, refused, replaced, */
export interface TraceBody {
  items: TraceEvent[];
}

/** One event of the governance contract, redacted. */
export interface TraceEvent {
  seq: number;
  at: string;
  type: string;
  shelf: string;
  data: Record<string, unknown>;
}

/** One way back: who took it, and what it came to. */
export interface Tried {
  way: string;
  who: string;
  result: string;
  code: string;
}

/** Whether text may ever be taken for more than data. */
export type Trust = "trusted" | "untrusted";

/** What the reference calls the sorts of things that are kept. */
export type Type = "all" | "principle" | "pattern" | "learning" | "retro" | "preference";

/** One part of a message: what its speaker does with it, what would come of it, and why. */
export interface Understanding {
  text: string;
  sort: string;
  outcome: string;
  would?: string;
  why?: string;
}

/** What an undoing came to, or would come to. */
export interface Undone {
  by: string;
  name: string;
  dry_run: boolean;
  memories: string[];
  restored: string[];
  pending: string[];
  for_good?: boolean;
  refused?: Record<string, number> | null;
}

/** Merge into the user model: what is not mentioned stays, and lists grow. */
export interface UpdateUserModelBody {
  items: ReceiptBody[];
}

/** A user model after something was merged into it. */
export interface UpdatedModelBody {
  success: boolean;
  model: UserModelBody;
  pending: WaitingBody[];
}

/** A procedure after it was used. */
export interface UsedProcedureBody {
  id: string;
  trigger: string;
  procedure: string[];
  source: string;
  successCount: number;
  failureCount: number;
  lastUsed: string | null;
  confidence: number;
  success: boolean;
}

/** What is known about a user; what is not has defaults. */
export interface UserModelBody {
  userId: string;
  name?: string | null;
  expertise: Record<string, string>;
  preferences: Record<string, string>;
  commonTopics: string[];
  timezone: string;
  activeHours?: Record<string, number> | null;
  notes: string[];
  updatedAt: number;
  confidence: number;
  known: string[];
}

/** What one scope says of a key. */
export interface Value {
  value: string;
  scope: string;
  memory_id: string | null;
  authority: Authority;
  priority: number;
  updated_at: string | null;
}

/** Why something happened, or did not: a recorded event or a search, a sentence each. */
export interface Verdict {
  subject: string;
  lines: string[];
}

/** Something that waits for the person's yes or no. */
export interface WaitingBody {
  code: string;
  ids: string[];
}

/** A statement that is known already and does not go with a new one. */
export interface Warned {
  id: string;
  text: string;
  similarity: number;
  why: string;
}

/** Who the token says is asking. */
export interface WhoAsks {
  user: string | null;
  agent: string | null;
  role: Role;
  rights: Right[];
  acts_for: string[];
}

/** What would become of a sentence. */
export interface WouldKeep {
  decision: Outcome;
  code: string;
  why: string;
  kind: string;
  layer: string;
  importance: number;
  gates: GateAnswer[];
}

/** What `remember` takes. */
export interface RememberRequest {
  /** The same key with the same request is carried out once. */
  idempotencyKey?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** One statement that makes sense on its own. */
  text: string;
  /** What sort of statement it is. */
  kind?: Kind | null;
  /** How far it reaches; `user` unless said otherwise. */
  space?: Space | null;
  /** The role it plays; usually left out. */
  layer?: Layer | null;
  /** The one value it sets, such as response.language; usually none. */
  key?: string | null;
  /** A category, to narrow a recall by. */
  category?: string | null;
  /** More words to find it by. */
  tags?: string[] | null;
  /** 1 (trifle) to 5 (vital). */
  importance?: number | null;
  /** 0 to 100; the higher wins. */
  priority?: number | null;
  /** How sure it is, 0 to 1. */
  confidence?: number | null;
  /** Keep it through every clean-up. */
  pin?: boolean | null;
  /** How long it holds: none, session_end, 90s, 8h, 7d, 2w, or a date. */
  ttl?: string | null;
  /** Why; it is kept in the history. */
  reason?: string | null;
  /** Where it comes from, such as a URL. */
  reference?: string | null;
  /** Make it one with a memory that says the same. */
  merge?: boolean | null;
  /** Ids of what it is made of: it is trusted no more than the least of them. */
  derived_from?: string[] | null;
}

/** What `list` takes. */
export interface ListRequest {
  /** Only these spaces. */
  space?: Space[] | null;
  /** Only these layers. */
  layer?: Layer[] | null;
  /** Only these kinds. */
  kind?: Kind[] | null;
  /** Only these categories. */
  category?: string[] | null;
  /** Only these states; active ones if none. */
  state?: State[] | null;
  /** Only what this one said: user:ana, agent:planner, or an agent. */
  by?: string | null;
  /** Not older than this date or time; UTC if it has no offset. */
  since?: string | null;
  /** Not newer than this date or time; UTC if it has no offset. */
  until?: string | null;
  /** Only those with any of these tags. */
  tag?: string[] | null;
  /** Nothing that a tool or a document said. */
  trusted_only?: boolean | null;
  /** newest, oldest or important first. */
  order?: Order | null;
  /** Whether the first page counts what there is of each; it does if not said. */
  count?: boolean | null;
  /** How many to a page. */
  limit?: number;
  /** The cursor of the page before; the first page if none. */
  cursor?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `recall` takes. */
export interface RecallRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** A question or a few words; or an id or a key. */
  query: string;
  /** How many hits at most. */
  k?: number | null;
  /** Only these spaces. */
  spaces?: Space[] | null;
  /** Only these layers. */
  layers?: Layer[] | null;
  /** Only these kinds. */
  kinds?: Kind[] | null;
  /** Only these categories. */
  categories?: string[] | null;
  /** Not older than this date or time; UTC if it has no offset. */
  since?: string | null;
  /** Not newer than this date or time; UTC if it has no offset. */
  until?: string | null;
  /** Leave out what does not fit so many tokens. */
  budget_tokens?: number | null;
  /** Earlier phases too. */
  across_phases?: boolean | null;
  /** Nothing that a tool or a document said. */
  trusted_only?: boolean | null;
  /** From what was known then: a date or time, or a revision. */
  as_of?: string | null;
  /** Also say what changed since this cursor; empty for everything. */
  changes_since?: string | null;
  /** With the events that the governance contract says of a reading. */
  trace?: boolean;
}

/** What `revise` takes. */
export interface ReviseRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** The ETag it must still have; otherwise 412. */
  ifMatch?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The whole new wording. */
  text: string;
  /** Only if it is still at this revision. */
  expect?: number | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `forget` takes. */
export interface ForgetRequest {
  /** A memory's id, or its key. */
  id: string;
  /** Why; it is kept in the history. */
  reason?: string;
  /** The ETag it must still have; otherwise 412. */
  ifMatch?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `get` takes. */
export interface GetRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `restore` takes. */
export interface RestoreRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `pin` takes. */
export interface PinRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `unpin` takes. */
export interface UnpinRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `history` takes. */
export interface HistoryRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `explain` takes. */
export interface ExplainRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `whyNot` takes. */
export interface WhyNotRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** A question or a few words; or an id or a key. */
  query: string;
  /** How many hits at most. */
  k?: number | null;
  /** Only these spaces. */
  spaces?: Space[] | null;
  /** Only these layers. */
  layers?: Layer[] | null;
  /** Only these kinds. */
  kinds?: Kind[] | null;
  /** Only these categories. */
  categories?: string[] | null;
  /** Not older than this date or time; UTC if it has no offset. */
  since?: string | null;
  /** Not newer than this date or time; UTC if it has no offset. */
  until?: string | null;
  /** Leave out what does not fit so many tokens. */
  budget_tokens?: number | null;
  /** Earlier phases too. */
  across_phases?: boolean | null;
  /** Nothing that a tool or a document said. */
  trusted_only?: boolean | null;
  /** From what was known then: a date or time, or a revision. */
  as_of?: string | null;
  /** Also say what changed since this cursor; empty for everything. */
  changes_since?: string | null;
}

/** What `explainEvent` takes. */
export interface ExplainEventRequest {
  /** The event's number. */
  seq: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `trace` takes. */
export interface TraceRequest {
  /** How many events, the newest ones. */
  last?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `hear` takes. */
export interface HearRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What was said, exactly. */
  text: string;
  /** What the agent answered. */
  reply?: string | null;
  /** What tools returned, each a JSON object. */
  tools?: Record<string, unknown>[];
  /** Only say what would be understood and kept, and why; do nothing. */
  dry_run?: boolean;
}

/** What `teach` takes. */
export interface TeachRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What was said, exactly. */
  text: string;
  /** remember, set, forget, correct, temporary, lasting, …; none where it asks for nothing. */
  sort?: string;
}

/** What `resolve` takes. */
export interface ResolveRequest {
  /** Only these; else all. */
  key?: string[];
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `context` takes. */
export interface ContextRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What you are about to do, in a sentence. */
  task: string;
  /** How many tokens it may have. */
  budget_tokens?: number;
  /** xml or markdown. */
  form?: string;
  /** Also say what changed since this cursor; empty for everything. */
  changes_since?: string | null;
  /** As this agent of yours would be told it. */
  seen_as?: string | null;
  /** With an id behind whatever has one. */
  cite?: boolean;
}

/** What `me` takes. */
export interface MeRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `review` takes. */
export interface ReviewRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `wouldKeep` takes. */
export interface WouldKeepRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** A sentence as you would say it. */
  text: string;
  /** The one value it would set. */
  key?: string | null;
  /** What sort of statement it would be. */
  kind?: Kind | null;
  /** As if this agent said it. */
  agent?: string | null;
}

/** What `difference` takes. */
export interface DifferenceRequest {
  /** The earlier date or time. */
  before: string;
  /** The later one; now if none. */
  after?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `documentTree` takes. */
export interface DocumentTreeRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `audit` takes. */
export interface AuditRequest {
  /** Only what somebody with this in their name did. */
  actor?: string;
  /** Only this act, such as remember. */
  op?: string;
  /** Only what was done to this memory. */
  memory_id?: string;
  /** Only records before this number; 0 for the newest. */
  before?: number;
  /** How many at most. */
  limit?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `search` takes. */
export interface SearchRequest {
  /** A question or a few words; or a path or a decision's id. */
  query: string;
  /** How many at most; 6 by default. */
  max_results?: number | null;
  /** all, documents or memories. */
  corpus?: Corpus;
  /** Look into the archives, too. */
  archive?: boolean;
  /** Cite documents (auto), memories too (on), or nothing (off). */
  citations?: Citations | null;
  /** How long it may take; 4000 by default. */
  timeout_ms?: number | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `lines` takes. */
export interface LinesRequest {
  /** The path of a document, as a search shows it. */
  path: string;
  /** The first line, from 1. */
  start?: number;
  /** How many lines. */
  lines?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `decisions` takes. */
export interface DecisionsRequest {
  /** Only those that are active, superseded, archived, or doubtful. */
  status?: Standing | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `decision` takes. */
export interface DecisionRequest {
  /** Its id, or a part that no other has. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `supersedeDecision` takes. */
export interface SupersedeDecisionRequest {
  /** The decision that no longer counts. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The decision that counts instead. */
  by: string;
  /** Why; what the new one says by default. */
  because?: string;
}

/** What `query` takes. */
export interface QueryRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What you need to know, in a few words. */
  query: string;
  /** Who asks, where you want it checked; another agent than the caller is refused. */
  agent?: string | null;
  /** Only these; all that you may read if none. */
  categories?: string[];
  /** user_id, agent_id, run_id, actor_id, role, category, pinned, importance_min, importance_max, updated_after, updated_before. */
  filters?: Record<string, unknown> | null;
  /** How many at most. */
  top_k?: number;
  /** bullets or full. */
  return?: string;
  /** How many tokens they may have together. */
  budget_tokens?: number;
  /** Leave out what answers less surely, 0 to 1. */
  threshold?: number | null;
  /** Also say what changed since this cursor; empty for everything. */
  changes_since?: string | null;
}

/** What `changes` takes. */
export interface ChangesRequest {
  /** The cursor of the last answer; everything if none. */
  since?: string;
  /** Seconds to wait for something to say. */
  wait?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `stats` takes. */
export interface StatsRequest {
  /** hour or day. */
  by?: string;
  /** How many days back. */
  days?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `merge` takes. */
export interface MergeRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Ids of memories that say the same. */
  ids: string[];
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `unmerge` takes. */
export interface UnmergeRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `relations` takes. */
export interface RelationsRequest {
  /** Only what this memory is linked to; all links if none. */
  of?: string;
  /** How many steps away. */
  depth?: number;
  /** json, or dot for Graphviz */
  format?: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `link` takes. */
export interface LinkRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The id of a memory, such as user:ana:semantic:12. */
  from: string;
  /** The id of the other one. */
  to: string;
  /** How they belong together, such as caused_by: letters, digits, _ and -. */
  type?: string;
  /** How strongly, 0 to 1. */
  strength?: number;
}

/** What `unlink` takes. */
export interface UnlinkRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  from: string;
  /** The id of the other one. */
  to: string;
  /** How they belong together, such as caused_by: letters, digits, _ and -. */
  type?: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `promote` takes. */
export interface PromoteRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The wider space: user or project. */
  to: Space;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `startSession` takes. */
export interface StartSessionRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What to call it. */
  name: string;
}

/** What `endSession` takes. */
export interface EndSessionRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `session` takes. */
export interface SessionRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `startPhase` takes. */
export interface StartPhaseRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Which space: session, user or project. */
  space?: Space;
  /** What to call it. */
  name?: string;
  /** Why; it is kept in the trace. */
  reason?: string;
}

/** What `phases` takes. */
export interface PhasesRequest {
  /** Which space: session, user or project. */
  space?: Space;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `phaseDiff` takes. */
export interface PhaseDiffRequest {
  /** The number of the earlier phase. */
  before: number;
  /** The number of the later phase. */
  after: number;
  /** Which space: session, user or project. */
  space?: Space;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `compact` takes. */
export interface CompactRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Which space: session, user or project. */
  space?: Space;
}

/** What `pending` takes. */
export interface PendingRequest {
  /** Also what was approved, denied or expired. */
  decided?: boolean;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `askWhatWaits` takes. */
export interface AskWhatWaitsRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `confirm` takes. */
export interface ConfirmRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Which, by its key; else the newest. */
  key?: string | null;
  /** Why; it is kept in the history. */
  reason?: string;
}

/** What `reject` takes. */
export interface RejectRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Which, by its key; else the newest. */
  key?: string | null;
}

/** What `learn` takes. */
export interface LearnRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What to learn. */
  text: string;
  /** user_model, procedural, semantic, episodic or auto; usually left out. */
  layer?: string | null;
  /** Words to find it by. */
  concepts?: string[];
  /** Where it comes from, such as a URL. */
  source?: string | null;
  /** human, mother or correction: how sure it is. */
  origin?: string | null;
  /** The project it is about. */
  project?: string | null;
  /** Of a contradiction: warn, ask, supersede or keep. */
  resolution?: string;
  /** Why; it is kept in the history. */
  reason?: string;
  /** Ids of what it is made of: it is trusted no more than the least of them. */
  derived_from?: string[] | null;
}

/** What `userModel` takes. */
export interface UserModelRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `updateUserModel` takes. */
export interface UpdateUserModelRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** A JSON object such as {"expertise": {"docker": "expert"}}. */
  updates: Record<string, unknown>;
}

/** What `resetUserModel` takes. */
export interface ResetUserModelRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `removeFromUserModel` takes. */
export interface RemoveFromUserModelRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** As the model shows it (expertise.C++, preferences.language, timezone, notes.<its text>) or its key. */
  item: string;
}

/** What `findProcedures` takes. */
export interface FindProceduresRequest {
  /** The task at hand; nothing lists the newest. */
  task?: string;
  /** How many at most. */
  limit?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `learnProcedure` takes. */
export interface LearnProcedureRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** When it applies. */
  trigger: string;
  /** What to do, in order. */
  steps: string[];
  /** explicit, correction or repeated_pattern. */
  source?: string;
  /** Ids of what it is made of: it is trusted no more than the least of them. */
  derived_from?: string[] | null;
}

/** What `usedProcedure` takes. */
export interface UsedProcedureRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The procedure's id. */
  id: string;
  /** success, partial, failed or unknown. */
  outcome?: string;
}

/** What `findEpisodes` takes. */
export interface FindEpisodesRequest {
  /** About what; nothing lists the latest. */
  topic?: string;
  /** How many at most. */
  limit?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `recordEpisode` takes. */
export interface RecordEpisodeRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What happened, in a sentence or two. */
  summary: string;
  /** What it was about. */
  topics?: string[];
  /** success, partial, failed or unknown. */
  outcome?: string;
  /** How long it took, in milliseconds. */
  duration_ms?: number | null;
  /** The group it happened in. */
  group?: string | null;
  /** Ids of what it is made of: it is trusted no more than the least of them. */
  derived_from?: string[] | null;
}

/** What `purge` takes. */
export interface PurgeRequest {
  /** The memory; without one, all that is due. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Also what could still be restored. */
  now?: boolean;
}

/** What `verifyPurge` takes. */
export interface VerifyPurgeRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `erase` takes. */
export interface EraseRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Whose memories; there is no default. */
  user: string;
}

/** What `newToken` takes. */
export interface NewTokenRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What it is for, to recognise it by. */
  label: string;
  /** Whose memories it opens; the owner's by default, nobody's with `acts_for`. */
  user?: string | null;
  /** The agent that speaks with it. */
  agent?: string | null;
  /** People whom a service acts for, each request naming one; `*` alone is everybody. */
  acts_for?: string[] | null;
  /** user, agent, tool, document, system or admin. */
  role?: Role | null;
  /** read, write, consent, speaks_for or admin; read and write by default. */
  rights?: Right[] | null;
  /** What its agent reports as a turn are the person's own words; only the owner can say so. */
  speaks_for?: boolean;
  /** When it ends; never by default. */
  expires_at?: string | null;
}

/** What `tokens` takes. */
export interface TokensRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `endToken` takes. */
export interface EndTokenRequest {
  /** Its id, as the list of tokens shows it. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `jobs` takes. */
export interface JobsRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `runJob` takes. */
export interface RunJobRequest {
  /** Which job; the list has their names. */
  name: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Show what would change; change nothing. */
  dry_run?: boolean;
  /** Agree to what the job would otherwise leave to you. */
  agree?: boolean;
  /** Only if there was no success for its last time yet. */
  scheduled?: boolean;
}

/** What `policy` takes. */
export interface PolicyRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `acceptPolicy` takes. */
export interface AcceptPolicyRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `allow` takes. */
export interface AllowRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** As the refusal names it. */
  fingerprints: string[];
}

/** What `verifyAudit` takes. */
export interface VerifyAuditRequest {
  /** Only what is this person's. */
  user?: string;
  /** Only what is of whoever has this memory, with a proof of its story. */
  memory?: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `exportProof` takes. */
export interface ExportProofRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `undo` takes. */
export interface UndoRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** All that was kept in this session. */
  session?: string | null;
  /** All that this agent kept. */
  agent?: string | null;
  /** All that came from this file, memory or tool. */
  source?: string | null;
  /** Say what would go, and change nothing. */
  dry_run?: boolean;
  /** Purge it, too: nothing can bring it back. */
  for_good?: boolean;
}

/** What `noes` takes. */
export interface NoesRequest {
  /** Also those that are over. */
  lifted?: boolean;
  /** How many at most. */
  limit?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `liftNo` takes. */
export interface LiftNoRequest {
  /** Its number, as the list of noes shows it. */
  number: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `proveForgotten` takes. */
export interface ProveForgottenRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** Its words, or the id of a memory. */
  what: string;
}

/** What `receipt` takes. */
export interface ReceiptRequest {
  /** The id that the answer carries. */
  id: string;
  /** Ask again, and say whether the same comes back. */
  replay?: boolean;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `answersWith` takes. */
export interface AnswersWithRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** How many at most. */
  limit?: number;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `status` takes. */
export interface StatusRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `export` takes. */
export interface ExportRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `metrics` takes. */
export interface MetricsRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `historyAlias` takes. */
export interface HistoryAliasRequest {
  /** The id of a memory, such as user:ana:semantic:12. */
  id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `memoryQuery` takes. */
export interface MemoryQueryRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What you need to know, in a few words. */
  query: string;
  /** Who asks, where you want it checked; another agent than the caller is refused. */
  agent?: string | null;
  /** Only these; all that you may read if none. */
  categories?: string[];
  /** user_id, agent_id, run_id, actor_id, role, category, pinned, importance_min, importance_max, updated_after, updated_before. */
  filters?: Record<string, unknown> | null;
  /** How many at most. */
  top_k?: number;
  /** bullets or full. */
  return?: string;
  /** How many tokens they may have together. */
  budget_tokens?: number;
  /** Leave out what answers less surely, 0 to 1. */
  threshold?: number | null;
  /** Also say what changed since this cursor; empty for everything. */
  changes_since?: string | null;
}

/** What `apiUserModel` takes. */
export interface ApiUserModelRequest {
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiResetUserModel` takes. */
export interface ApiResetUserModelRequest {
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiUpdateUserModel` takes. */
export interface ApiUpdateUserModelRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  userId?: string | null;
  updates?: Record<string, unknown> | null;
  [more: string]: unknown;
}

/** What `apiFindProcedures` takes. */
export interface ApiFindProceduresRequest {
  /** The task at hand; nothing lists the newest. */
  q?: string;
  /** How many at most. */
  limit?: number;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiLearnProcedure` takes. */
export interface ApiLearnProcedureRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** When it applies. */
  trigger: string;
  /** What to do, in order. */
  procedure: string[];
  /** explicit, correction or repeated_pattern. */
  source?: string;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
}

/** What `apiUsedProcedure` takes. */
export interface ApiUsedProcedureRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** The procedure's id. */
  id: string;
  /** success, partial, failed or unknown. */
  outcome?: string;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
}

/** What `apiFindEpisodes` takes. */
export interface ApiFindEpisodesRequest {
  /** About what; nothing lists the latest. */
  q?: string;
  /** How many at most. */
  limit?: number;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiRecordEpisode` takes. */
export interface ApiRecordEpisodeRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  /** What happened, in a sentence or two. */
  summary: string;
  /** What it was about. */
  topics?: string[];
  /** success, partial, failed or unknown. */
  outcome?: string;
  /** The group it happened in. */
  groupId?: string | null;
  /** How long it took, in milliseconds. */
  durationMs?: number | null;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
}

/** What `runPending` takes. */
export interface RunPendingRequest {
  run_id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `runConfirm` takes. */
export interface RunConfirmRequest {
  run_id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  key: string;
  reason?: string | null;
}

/** What `runReject` takes. */
export interface RunRejectRequest {
  run_id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  key: string;
  reason?: string | null;
}

/** What `runMetrics` takes. */
export interface RunMetricsRequest {
  run_id: string;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiLearn` takes. */
export interface ApiLearnRequest {
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
  userId?: string | null;
  pattern?: string | null;
  source?: string | null;
  concepts?: string[] | string;
  origin?: string | null;
  project?: string | null;
  cwd?: string | null;
  layer?: string | null;
  resolution?: string;
}

/** What `apiSearch` takes. */
export interface ApiSearchRequest {
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  q: string;
  layer?: string | null;
  type?: Type;
  limit?: number;
  offset?: number;
  mode?: Mode;
  project?: string | null;
  cwd?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** What `apiConsult` takes. */
export interface ApiConsultRequest {
  q: string;
  context?: string;
  limit?: number;
  /** The token's own user by default; a service's token names one of its people. */
  userId?: string | null;
  /** What an answer of any server told: a replica that has less is not asked. */
  xLaminaRevision?: string | null;
}

/** Everything that can be asked of a memory. */
export interface Operations {
  /**
   * Remember one thing, exactly as it is said.
   *
   * `POST /v1/memories`
   */
  remember(request: RememberRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Everything you may read, newest first unless asked otherwise, a page at a time, with counts of it.
   *
   * `GET /v1/memories`
   */
  list(request?: ListRequest, options?: CallOptions): Promise<Page>;
  /**
   * What is known about a question, best first, with reasons.
   *
   * `POST /v1/recall`
   */
  recall(request: RecallRequest, options?: CallOptions): Promise<Recollection>;
  /**
   * Say a memory in new words; its id stays, its earlier words go to the history.
   *
   * `PATCH /v1/memories/{id}`
   */
  revise(request: ReviseRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Take a memory out of every answer; it can be restored within the undo window.
   *
   * `DELETE /v1/memories/{id}`
   */
  forget(request: ForgetRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * One memory, in whatever state it is, with its revision, authority and provenance.
   *
   * `GET /v1/memories/{id}`
   */
  get(request: GetRequest, options?: CallOptions): Promise<Memory>;
  /**
   * Bring a forgotten memory back as it was.
   *
   * `POST /v1/memories/{id}/restore`
   */
  restore(request: RestoreRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Keep a memory through every clean-up: it neither fades nor is put aside unused.
   *
   * `POST /v1/memories/{id}/pin`
   */
  pin(request: PinRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Let a memory age again like any other.
   *
   * `POST /v1/memories/{id}/unpin`
   */
  unpin(request: UnpinRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Every step in the life of a memory, oldest first, with its words before and after.
   *
   * `GET /v1/memories/{id}/history`
   */
  history(request: HistoryRequest, options?: CallOptions): Promise<HistoryBody>;
  /**
   * Why a memory is there: who said it, through which door, what let it pass, what it replaced.
   *
   * `GET /v1/memories/{id}/explain`
   */
  explain(request: ExplainRequest, options?: CallOptions): Promise<Explanation>;
  /**
   * Why a memory is not among the hits for a question, or that it is.
   *
   * `POST /v1/memories/{id}/why-not`
   */
  whyNot(request: WhyNotRequest, options?: CallOptions): Promise<Verdict>;
  /**
   * Why a write was refused, which of two won, what was recalled: from the event that was recorded.
   *
   * `GET /v1/trace/{seq}/explain`
   */
  explainEvent(request: ExplainEventRequest, options?: CallOptions): Promise<Verdict>;
  /**
   * The newest events of the caller's memory, oldest of them first: written, refused, replaced,
   * taken out.
   *
   * `GET /v1/trace`
   */
  trace(request?: TraceRequest, options?: CallOptions): Promise<TraceBody>;
  /**
   * One turn of a conversation: its commands are carried out, and what lasts of it is kept.
   *
   * `POST /v1/hear`
   */
  hear(request: HearRequest, options?: CallOptions): Promise<HeardBody>;
  /**
   * Say what a sentence is; from now on those like it are understood so. Its words are not kept.
   *
   * `POST /v1/teach`
   */
  teach(request: TeachRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * The values used for keys such as response.language, and what each of them hides.
   *
   * `GET /v1/resolve`
   */
  resolve(request?: ResolveRequest, options?: CallOptions): Promise<ResolveBody>;
  /**
   * The block an agent puts in its prompt: the person, how things are done, what is known.
   *
   * `POST /v1/context`
   */
  context(request: ContextRequest, options?: CallOptions): Promise<Context>;
  /**
   * What is known about you, in words, grouped; what waits for your answer; how much there is.
   *
   * `GET /v1/me`
   */
  me(request?: MeRequest, options?: CallOptions): Promise<Profile>;
  /**
   * One queue of what waits for you: guesses, wishes of agents, contradictions, doubles, refusals.
   *
   * `GET /v1/review`
   */
  review(request?: ReviewRequest, options?: CallOptions): Promise<Review>;
  /**
   * Whether a sentence would be kept, check by check; nothing is stored.
   *
   * `POST /v1/would-keep`
   */
  wouldKeep(request: WouldKeepRequest, options?: CallOptions): Promise<WouldKeep>;
  /**
   * What came, went and says something else between two dates.
   *
   * `GET /v1/difference`
   */
  difference(request: DifferenceRequest, options?: CallOptions): Promise<Difference>;
  /**
   * Every file of the workspace that is searched, its tier, and lines that are kept back or not used.
   *
   * `GET /v1/documents/tree`
   */
  documentTree(request?: DocumentTreeRequest, options?: CallOptions): Promise<DocumentTree>;
  /**
   * The newest records of the audit, with who did what; values are in it as hashes only.
   *
   * `GET /v1/audit`
   */
  audit(request?: AuditRequest, options?: CallOptions): Promise<AuditPage>;
  /**
   * What notes, decisions and memories say about a question: where it stands, when, and how sure that
   * is.
   *
   * `GET /v1/search`
   */
  search(request: SearchRequest, options?: CallOptions): Promise<SearchResultsBody>;
  /**
   * Some lines of one of your documents as the file has them now, without its secrets.
   *
   * `GET /v1/documents`
   */
  lines(request: LinesRequest, options?: CallOptions): Promise<DocumentLinesBody>;
  /**
   * Every decision in the workspace's files, oldest first, and sections that cannot be read.
   *
   * `GET /v1/decisions`
   */
  decisions(request?: DecisionsRequest, options?: CallOptions): Promise<DecisionList>;
  /**
   * One decision with everything that is known of it.
   *
   * `GET /v1/decisions/{id}`
   */
  decision(request: DecisionRequest, options?: CallOptions): Promise<Kept>;
  /**
   * Say that one decision overrules another; both sections name each other then.
   *
   * `POST /v1/decisions/{id}/supersede`
   */
  supersedeDecision(request: SupersedeDecisionRequest, options?: CallOptions): Promise<Decision>;
  /**
   * A few memories for the step at hand, narrowed by category and filters, within a token budget.
   *
   * `POST /v1/query`
   */
  query(request: QueryRequest, options?: CallOptions): Promise<Queried>;
  /**
   * What changed since you last looked: at most three lines, what matters most first.
   *
   * `GET /v1/changes`
   */
  changes(request?: ChangesRequest, options?: CallOptions): Promise<Delta>;
  /**
   * How often memory was read and changed lately, and what there is by category and state.
   *
   * `GET /v1/stats`
   */
  stats(request?: StatsRequest, options?: CallOptions): Promise<Stats>;
  /**
   * Make one memory of several that say the same; `unmerge` undoes it.
   *
   * `POST /v1/merge`
   */
  merge(request: MergeRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Take a memory apart again that was merged, or bring back what a newer value replaced.
   *
   * `POST /v1/memories/{id}/unmerge`
   */
  unmerge(request: UnmergeRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Which memories belong together: said by somebody, or found close when they were written.
   *
   * `GET /v1/relations`
   */
  relations(request?: RelationsRequest, options?: CallOptions): Promise<Graph | string>;
  /**
   * Say that two memories belong together, for example that one is the reason for the other.
   *
   * `POST /v1/relations`
   */
  link(request: LinkRequest, options?: CallOptions): Promise<Relation>;
  /**
   * Take a link away, whichever way round it is; the memories stay.
   *
   * `DELETE /v1/relations`
   */
  unlink(request: UnlinkRequest, options?: CallOptions): Promise<Relation>;
  /**
   * Move a memory to a wider space, such as from the session to the project, if the policy lets it.
   *
   * `POST /v1/memories/{id}/promote`
   */
  promote(request: PromoteRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Begin a session or go on with it; SESSION.md is about it from now on.
   *
   * `POST /v1/session`
   */
  startSession(request: StartSessionRequest, options?: CallOptions): Promise<Session>;
  /**
   * End the session; what it keeps until its end goes. How many entries went.
   *
   * `DELETE /v1/session`
   */
  endSession(request?: EndSessionRequest, options?: CallOptions): Promise<EndSessionBody>;
  /**
   * When the session began, was last used and ended; nothing before its first use.
   *
   * `GET /v1/session`
   */
  session(request?: SessionRequest, options?: CallOptions): Promise<SessionBody>;
  /**
   * Begin the next phase of a space; from then on a recall looks at that one only.
   *
   * `POST /v1/phases`
   */
  startPhase(request?: StartPhaseRequest, options?: CallOptions): Promise<Phase>;
  /**
   * The phases of a space that are kept, oldest first.
   *
   * `GET /v1/phases`
   */
  phases(request?: PhasesRequest, options?: CallOptions): Promise<PhasesBody>;
  /**
   * What was added, deleted and replaced between the ends of two phases.
   *
   * `GET /v1/phases/diff`
   */
  phaseDiff(request: PhaseDiffRequest, options?: CallOptions): Promise<PhaseDiffBody>;
  /**
   * Put aside what is past its time in a space, and lines of its file that repeat another. How many.
   *
   * `POST /v1/compact`
   */
  compact(request?: CompactRequest, options?: CallOptions): Promise<CompactBody>;
  /**
   * Guesses about the person, and what agents want to set of them, that wait for their yes or no.
   *
   * `GET /v1/pending`
   */
  pending(request?: PendingRequest, options?: CallOptions): Promise<PendingBody>;
  /**
   * Ask the person about all that waits in one question, at the end of a session; the next turn answers.
   *
   * `POST /v1/pending/question`
   */
  askWhatWaits(request?: AskWhatWaitsRequest, options?: CallOptions): Promise<AskWhatWaitsBody>;
  /**
   * Keep what was guessed.
   *
   * `POST /v1/pending/confirm`
   */
  confirm(request?: ConfirmRequest, options?: CallOptions): Promise<ConfirmBody>;
  /**
   * Drop what was guessed.
   *
   * `POST /v1/pending/reject`
   */
  reject(request?: RejectRequest, options?: CallOptions): Promise<RejectBody>;
  /**
   * Keep something for good, in its layer; name what it contradicts.
   *
   * `POST /v1/learn`
   */
  learn(request: LearnRequest, options?: CallOptions): Promise<LearnedBody>;
  /**
   * What is known about the user: expertise, preferences, topics, notes; what is not has defaults.
   *
   * `GET /v1/user-model`
   */
  userModel(request?: UserModelRequest, options?: CallOptions): Promise<UserModelBody>;
  /**
   * Merge into the user model: what is not mentioned stays, and lists grow.
   *
   * `PATCH /v1/user-model`
   */
  updateUserModel(request: UpdateUserModelRequest, options?: CallOptions): Promise<UpdateUserModelBody>;
  /**
   * Forget everything in the user model; each value can be restored. How many values.
   *
   * `DELETE /v1/user-model`
   */
  resetUserModel(request?: ResetUserModelRequest, options?: CallOptions): Promise<ResetUserModelBody>;
  /**
   * Forget one item of the user model; it can be restored.
   *
   * `POST /v1/user-model/remove`
   */
  removeFromUserModel(request: RemoveFromUserModelRequest, options?: CallOptions): Promise<RemoveFromUserModelBody>;
  /**
   * How things are done here: procedures for a task, best first.
   *
   * `GET /v1/procedures`
   */
  findProcedures(request?: FindProceduresRequest, options?: CallOptions): Promise<FindProceduresBody>;
  /**
   * Keep how something is done; a procedure for the same task is extended instead.
   *
   * `POST /v1/procedures`
   */
  learnProcedure(request: LearnProcedureRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Note that a procedure was followed, and how it went.
   *
   * `POST /v1/procedures/used`
   */
  usedProcedure(request: UsedProcedureRequest, options?: CallOptions): Promise<Procedure>;
  /**
   * What happened before: about a topic, best first, or the latest.
   *
   * `GET /v1/episodes`
   */
  findEpisodes(request?: FindEpisodesRequest, options?: CallOptions): Promise<FindEpisodesBody>;
  /**
   * Keep what happened for 90 days, longer where it is found again, one line of it for good.
   *
   * `POST /v1/episodes`
   */
  recordEpisode(request: RecordEpisodeRequest, options?: CallOptions): Promise<ReceiptBody>;
  /**
   * Take a memory out of every place for good, and prove it.
   *
   * `POST /v1/memories/{id}/purge`
   */
  purge(request: PurgeRequest, options?: CallOptions): Promise<PurgeReceipt[]>;
  /**
   * Look at every place again for a memory that was purged.
   *
   * `GET /v1/memories/{id}/purge`
   */
  verifyPurge(request: VerifyPurgeRequest, options?: CallOptions): Promise<PurgeReceipt>;
  /**
   * Take out everything of one person's, and prove it: your own, or as an administrator anybody's.
   *
   * `POST /v1/erase`
   */
  erase(request: EraseRequest, options?: CallOptions): Promise<EraseReceipt>;
  /**
   * Make a token; its text is shown this once.
   *
   * `POST /v1/tokens`
   */
  newToken(request: NewTokenRequest, options?: CallOptions): Promise<MadeToken>;
  /**
   * Every token there is or was, without its secret.
   *
   * `GET /v1/tokens`
   */
  tokens(request?: TokensRequest, options?: CallOptions): Promise<TokensBody>;
  /**
   * End a token at once and for good.
   *
   * `DELETE /v1/tokens/{id}`
   */
  endToken(request: EndTokenRequest, options?: CallOptions): Promise<void>;
  /**
   * The memory's background work: when each job runs next, and how its last run went.
   *
   * `GET /v1/jobs`
   */
  jobs(request?: JobsRequest, options?: CallOptions): Promise<JobsBody>;
  /**
   * Run a job now and wait for it.
   *
   * `POST /v1/jobs/{name}/run`
   */
  runJob(request: RunJobRequest, options?: CallOptions): Promise<JobReport>;
  /**
   * The policy that is used, as events carry it.
   *
   * `GET /v1/policy`
   */
  policy(request?: PolicyRequest, options?: CallOptions): Promise<PolicyBody>;
  /**
   * Use POLICY.md of the configuration folder from now on.
   *
   * `POST /admin/policy/reload`
   */
  acceptPolicy(request?: AcceptPolicyRequest, options?: CallOptions): Promise<Accepted>;
  /**
   * Let a value pass that was taken for a secret and is none.
   *
   * `POST /v1/policy/allow`
   */
  allow(request: AllowRequest, options?: CallOptions): Promise<void>;
  /**
   * Check every record of the audit, its anchor, its files, and all that they tell of.
   *
   * `GET /v1/audit/verify`
   */
  verifyAudit(request?: VerifyAuditRequest, options?: CallOptions): Promise<AuditReport>;
  /**
   * The whole story of a memory, which `lamina audit check-proof` can check with the key and no store.
   *
   * `GET /v1/audit/proof`
   */
  exportProof(request: ExportProofRequest, options?: CallOptions): Promise<ProofBody>;
  /**
   * Forget all that a session, an agent or a source wrote; what it had replaced comes back.
   *
   * `POST /v1/undo`
   */
  undo(request?: UndoRequest, options?: CallOptions): Promise<Undone>;
  /**
   * What you said no to, without the words, and who tried to bring it back.
   *
   * `GET /v1/noes`
   */
  noes(request?: NoesRequest, options?: CallOptions): Promise<NoesBody>;
  /**
   * End a no: what it was about may be kept again.
   *
   * `POST /v1/noes/{number}/lift`
   */
  liftNo(request: LiftNoRequest, options?: CallOptions): Promise<Refusal>;
  /**
   * Try every way by which something forgotten could come back; nothing of it stays, no words are shown.
   *
   * `POST /v1/prove/forgotten`
   */
  proveForgotten(request: ProveForgottenRequest, options?: CallOptions): Promise<Proof>;
  /**
   * What a recall, context or query found, showed and left out, and by which policy.
   *
   * `GET /v1/answers/{id}`
   */
  receipt(request: ReceiptRequest, options?: CallOptions): Promise<AnswerReceipt>;
  /**
   * The answers that a memory was in, or was left out of, the latest first.
   *
   * `GET /v1/memories/{id}/answers`
   */
  answersWith(request: AnswersWithRequest, options?: CallOptions): Promise<AnswersWithBody>;
  /**
   * Who is asking, and for an administrator the state of the store in figures.
   *
   * `GET /v1/status`
   */
  status(request?: StatusRequest, options?: CallOptions): Promise<StatusBody>;
  /**
   * Everything that is known about the caller's user, an object a line; the last one seals the others.
   *
   * `GET /v1/export`
   */
  export(request?: ExportRequest, options?: CallOptions): Promise<string>;
  /**
   * What this server did, in numbers, for a token with the right `admin`: they count everyone.
   *
   * Where a server has several tenants, an administrator of its own one alone may see them.
   *
   * `GET /metrics`
   */
  metrics(request?: MetricsRequest, options?: CallOptions): Promise<string>;
  /**
   * Every step in the life of a memory, oldest first, with its words before and after.
   *
   * `GET /memory/{id}/history`
   */
  historyAlias(request: HistoryAliasRequest, options?: CallOptions): Promise<HistoryBody>;
  /**
   * A few memories for the step at hand, narrowed by category and filters, within a token budget.
   *
   * `POST /memory/query`
   */
  memoryQuery(request: MemoryQueryRequest, options?: CallOptions): Promise<Bullet[] | Record<string, unknown>>;
  /**
   * What is known about the user: expertise, preferences, topics, notes; what is not has defaults.
   *
   * `GET /api/user-model`
   */
  apiUserModel(request?: ApiUserModelRequest, options?: CallOptions): Promise<UserModelBody>;
  /**
   * Forget everything in the user model; each value can be restored. How many values.
   *
   * `DELETE /api/user-model`
   */
  apiResetUserModel(request?: ApiResetUserModelRequest, options?: CallOptions): Promise<ResetModelBody>;
  /**
   * Merge into the user model; what is not mentioned stays, and lists grow.
   *
   * `POST /api/user-model`
   */
  apiUpdateUserModel(request?: ApiUpdateUserModelRequest, options?: CallOptions): Promise<UpdatedModelBody>;
  /**
   * How things are done here: procedures for a task, best first.
   *
   * `GET /api/procedural`
   */
  apiFindProcedures(request?: ApiFindProceduresRequest, options?: CallOptions): Promise<FoundProceduresBody>;
  /**
   * Keep how something is done; a procedure for the same task is extended instead.
   *
   * `POST /api/procedural`
   */
  apiLearnProcedure(request: ApiLearnProcedureRequest, options?: CallOptions): Promise<LearnedProcedureBody>;
  /**
   * Note that a procedure was followed, and how it went.
   *
   * `POST /api/procedural/usage`
   */
  apiUsedProcedure(request: ApiUsedProcedureRequest, options?: CallOptions): Promise<UsedProcedureBody>;
  /**
   * What happened before: about a topic, best first, or the latest.
   *
   * `GET /api/episodic`
   */
  apiFindEpisodes(request?: ApiFindEpisodesRequest, options?: CallOptions): Promise<FoundEpisodesBody>;
  /**
   * Keep what happened for 90 days, longer where it is found again, one line of it for good.
   *
   * `POST /api/episodic`
   */
  apiRecordEpisode(request: ApiRecordEpisodeRequest, options?: CallOptions): Promise<RecordedEpisodeBody>;
  /**
   * What was guessed in a run and waits for the person's yes or no.
   *
   * `GET /runs/{run_id}/memory/pending`
   */
  runPending(request: RunPendingRequest, options?: CallOptions): Promise<RunPendingBody>;
  /**
   * Keep what was guessed; the token needs the right `consent`, and its role must be the user's.
   *
   * `POST /runs/{run_id}/memory/confirm`
   */
  runConfirm(request: RunConfirmRequest, options?: CallOptions): Promise<DecidedBody>;
  /**
   * Drop what was guessed; the token needs the right `consent`, and its role must be the user's.
   *
   * `POST /runs/{run_id}/memory/reject`
   */
  runReject(request: RunRejectRequest, options?: CallOptions): Promise<DecidedBody>;
  /**
   * How much waits in a run, and whether that is too much.
   *
   * `GET /runs/{run_id}/memory/metrics`
   */
  runMetrics(request: RunMetricsRequest, options?: CallOptions): Promise<MetricsBody>;
  /**
   * Learn something: in the layer named, else the semantic one with its file.
   *
   * `POST /api/learn`
   */
  apiLearn(request?: ApiLearnRequest, options?: CallOptions): Promise<ApiLearnedBody>;
  /**
   * What is known about a question: in all layers or some, of a type, by one retriever or by all.
   *
   * With `project`, or a `cwd` in its checkout, what belongs to that project or to none.
   *
   * `GET /api/search`
   */
  apiSearch(request: ApiSearchRequest, options?: CallOptions): Promise<SearchedBody>;
  /**
   * Principles and patterns for a decision, and what they come to in a sentence.
   *
   * `GET /api/consult`
   */
  apiConsult(request: ApiConsultRequest, options?: CallOptions): Promise<ConsultedBody>;
  /**
   * Whether the process answers.
   *
   * `GET /livez`
   */
  livez(request?: Record<string, never>, options?: CallOptions): Promise<HealthBody>;
  /**
   * Whether the store answers and the server is not about to stop; how far a new index is.
   *
   * `GET /health`
   */
  health(request?: Record<string, never>, options?: CallOptions): Promise<HealthBody>;
  /**
   * Whether the store answers and the server is not about to stop; how far a new index is.
   *
   * `GET /readyz`
   */
  readyz(request?: Record<string, never>, options?: CallOptions): Promise<HealthBody>;
  /**
   * Whether the store answers and its index is current; needs no token.
   *
   * `GET /api/health`
   */
  apiHealth(request?: Record<string, never>, options?: CallOptions): Promise<ApiHealthBody>;
}
