import { type Static, Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Timestamp, nullable } from '../values.ts'

const reading = { security: 'admin', cors: 'auth host', permission: 'statistics.read' } as const

/** What is checked, in the order of the answer. */
export const healthCheckNames = [
  'database',
  'migrations',
  'clock',
  'disk',
  'mail',
  'invitation_mails',
  'webhooks',
  'audit_log',
  'sinks',
  'token_signing_keys',
  'backup',
  'owners',
  'admin_tokens',
  'scim_tokens',
] as const
export type HealthCheckName = (typeof healthCheckNames)[number]

const status = Type.Enum(['ok', 'warning', 'failing'], { type: 'string' })
export type HealthStatus = Static<typeof status>

export const HealthCheck = Type.Object({
  name: Type.Enum([...healthCheckNames], { type: 'string' }),
  status,
  since: nullable(
    Type.Unsafe<string>({ ...Timestamp, description: 'Since when, as far as the service knows; null if it does not' }),
  ),
  message: Type.String(),
  fix: nullable(Type.String({ description: 'What the operator does; null if nothing' })),
})
export type HealthCheck = Static<typeof HealthCheck>

export const Health = Type.Object({
  status: Type.Unsafe<HealthStatus>({ ...status, description: 'The worst of the checks' }),
  version: Type.String(),
  checks: Type.Array(HealthCheck),
})
export type Health = Static<typeof Health>

export const getHealth = endpoint(
  'GET /api/admin/health',
  {
    ...reading,
    summary: 'Check what the service needs: database, mail, webhooks, audit log, keys, backups, operators',
  },
  {},
  { 200: Health },
)

/** The largest count that is given: larger ones are this one. */
export const overviewCountMax = 10_000

const count = Type.Integer({ maximum: overviewCountMax, description: 'Larger numbers are 10000' })

export const Overview = Type.Object({
  pendingInvitations: count,
  suspendedIdentities: count,
  apps: count,
  operators: count,
})
export type Overview = Static<typeof Overview>

export const getOverview = endpoint(
  'GET /api/admin/overview',
  { ...reading, summary: 'Count open invitations, suspended identities, apps and operators' },
  {},
  { 200: Overview },
)
