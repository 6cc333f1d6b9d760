-- A page of what the log has of one identity is read by its places, however many there are.
create index transparency_leaf_of_identity on transparency_leaf (identity_sha256, leaf_index)
  where leaf_index is not null;
