import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'

const probe = { security: 'none', cors: 'no origin', host: 'every host' } as const

export const healthz = endpoint(
  'GET /healthz',
  { ...probe, summary: 'The process is up' },
  {},
  { 200: Type.Object({ status: Type.Literal('ok') }) },
)

export const readyz = endpoint(
  'GET /readyz',
  { ...probe, summary: 'The database is reachable and its migrations are done' },
  {},
  { 200: Type.Object({ status: Type.Literal('ready') }) },
)
