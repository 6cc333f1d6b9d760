/** The media type of a backup: lines of JSON, compressed by gzip. */
export const backupMediaType = 'application/vnd.countersign.backup'
