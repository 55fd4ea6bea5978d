-- Documents and their passages: an index of the workspace's markdown, made anew from the files at any time.

-- fragment: passage_columns
p.shelf, p.slot, p.path, p.number, p.start_line, p.end_line, p.heading, p.text, p.status, p.key, p.dated_at

-- name: put_document
INSERT INTO document (tenant, path, shelf, stamp, hash, title, tier, dated_at, indexed_at, depth, next_number, gone,
  hidden)
VALUES (:tenant, :path, :shelf, :stamp, :hash, :title, :tier, :dated_at, :indexed_at, :depth, :next_number, 0, :hidden)
ON CONFLICT (tenant, path) DO UPDATE SET stamp = excluded.stamp, hash = excluded.hash, title = excluded.title,
  tier = excluded.tier, dated_at = excluded.dated_at, indexed_at = excluded.indexed_at, depth = excluded.depth,
  next_number = excluded.next_number, gone = 0, hidden = excluded.hidden;

-- name: documents_known
-- What each file was when it was last read.
SELECT path, stamp, hash, gone, hidden FROM document WHERE tenant = :tenant ORDER BY path;

-- name: document_by_path
SELECT hash, next_number FROM document WHERE tenant = :tenant AND path = :path;

-- name: restamp_document
-- The file was touched and says what it said.
UPDATE document SET stamp = :stamp, gone = 0 WHERE tenant = :tenant AND path = :path;

-- name: mark_document
UPDATE document SET gone = :gone WHERE tenant = :tenant AND path = :path;

-- name: move_document
UPDATE document SET path = :new WHERE tenant = :tenant AND path = :path;

-- name: move_passages
UPDATE passage SET path = :new WHERE tenant = :tenant AND path = :path;

-- name: drop_document
DELETE FROM document WHERE tenant = :tenant AND path = :path;

-- name: passages_of
SELECT {{passage_columns}} FROM passage p WHERE p.tenant = :tenant AND p.path = :path ORDER BY p.number;

-- name: passages_after
-- Passages in the order of their numbers across all files, page by page.
SELECT {{passage_columns}} FROM passage p
 WHERE p.tenant = :tenant AND (p.path > :path OR (p.path = :path AND p.number > :number))
 ORDER BY p.path, p.number LIMIT :limit;

-- name: passages_between
SELECT {{passage_columns}} FROM passage p
 WHERE p.tenant = :tenant AND p.shelf = :shelf AND p.slot >= :first AND p.slot < :last ORDER BY p.slot;

-- name: add_passage
INSERT INTO passage (tenant, path, number, shelf, slot, start_line, end_line, heading, text, status, key, dated_at)
VALUES (:tenant, :path, :number, :shelf, :slot, :start_line, :end_line, :heading, :text, :status, :key, :dated_at);

-- name: update_passage
-- The same words at another place, or with another date or status.
UPDATE passage SET start_line = :start_line, end_line = :end_line, status = :status, key = :key, dated_at = :dated_at
 WHERE tenant = :tenant AND path = :path AND number = :number;

-- name: set_passage_slot
UPDATE passage SET slot = :slot WHERE tenant = :tenant AND path = :path AND number = :number;

-- name: empty_passage_slots
UPDATE passage SET slot = NULL WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL;

-- name: drop_passage
DELETE FROM passage WHERE tenant = :tenant AND path = :path AND number = :number;

-- name: count_documents
SELECT tier, COUNT(*) FROM document WHERE tenant = :tenant AND gone = 0 GROUP BY tier ORDER BY tier;

-- name: deepest_document
-- How deep a search of a shelf can reach.
SELECT MAX(depth) FROM document WHERE tenant = :tenant AND shelf = :shelf AND gone = 0;

-- name: count_passages
SELECT COUNT(*), COUNT(slot) FROM passage WHERE tenant = :tenant;

-- name: passages_named
-- Passages of a shelf that a question names: by the decision's id, or by the file's path.
SELECT {{passage_columns}}, d.stamp FROM passage p
  JOIN document d ON d.tenant = p.tenant AND d.path = p.path
 WHERE p.tenant = :tenant AND p.shelf = :shelf AND d.gone = 0 AND (p.key = :name OR p.path = :name)
 ORDER BY p.path, p.number LIMIT :limit;

-- name: passages_dated
-- Where passages that carry a date in a stretch of time stand in the index.
SELECT slot FROM passage WHERE tenant = :tenant AND shelf = :shelf AND dated_at >= :start AND dated_at < :end_
 ORDER BY dated_at, slot LIMIT :limit;
