import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'

const probe = { security: 'none', cors: 'no origin', host: 'every host' } as const

export const healthz = endpoint(
  'GET /healthz',
  { ...probe, summary: 'Check that the process is running' },
  {},
  { 200: Type.Object({ status: Type.Literal('ok') }) },
)

export const readyz = endpoint(
  'GET /readyz',
  { ...probe, summary: 'Check that the database is reachable and migrated' },
  {},
  { 200: Type.Object({ status: Type.Literal('ready') }) },
)
