SELECT n.node_id FROM noonmark.node n WHERE n.node_id = $1 FOR UPDATE
