import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { backupMediaType } from './formats-backup.ts'
import { Instant } from '../values.ts'

const operator = { security: 'admin', cors: 'no origin' } as const

export const Restored = Type.Object({
  takenAt: Instant,
  rows: Type.Record(Type.String(), Type.Integer(), { description: 'How many rows of each table' }),
})
export type Restored = Static<typeof Restored>

const BackupFile = Type.Unsafe<unknown>({ type: 'string', format: 'binary', contentMediaType: backupMediaType })

export const takeBackup = endpoint(
  'GET /api/admin/backup',
  { ...operator, summary: 'A consistent copy of everything that must survive, as compressed lines of JSON' },
  {},
  { 200: BackupFile },
)

export const restoreBackup = endpoint(
  'POST /api/admin/restore',
  {
    ...operator,
    summary: 'Restore a backup into a server that has no user and no app yet',
    consumes: backupMediaType,
  },
  {},
  { 200: Restored },
)
