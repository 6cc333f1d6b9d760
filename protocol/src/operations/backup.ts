import { type Static, Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Timestamp } from '../values.ts'

/** Media type of a backup: lines of JSON, compressed by gzip. */
export const backupMediaType = 'application/vnd.countersign.backup'

const admin = { security: 'admin', cors: 'auth host' } as const

export const RestoreResult = Type.Object({
  takenAt: Timestamp,
  rows: Type.Record(Type.String(), Type.Integer(), { description: 'Number of rows of each table' }),
})
export type RestoreResult = Static<typeof RestoreResult>

const BackupFile = Type.Unsafe<unknown>({ type: 'string', format: 'binary', contentMediaType: backupMediaType })

export const createBackup = endpoint(
  'GET /api/admin/backup',
  {
    ...admin,
    permission: 'backup.create',
    recentAuthentication: true,
    summary: 'Create a consistent backup of the durable tables, as compressed lines of JSON',
  },
  {},
  { 200: BackupFile },
)

export const restoreBackup = endpoint(
  'POST /api/admin/restore',
  {
    ...admin,
    permission: 'backup.restore',
    summary: 'Restore a backup into a server without users and apps',
    consumes: backupMediaType,
  },
  {},
  { 200: RestoreResult },
)
