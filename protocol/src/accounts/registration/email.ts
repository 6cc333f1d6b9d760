import { Type } from 'typebox'
import { endpoint } from '../../endpoint.ts'
import { Timestamp, Uuid } from '../../values.ts'

const page = { security: 'none', cors: 'first party' } as const

export const startRegistrationEmail = endpoint(
  'POST /api/auth/register/email',
  { ...page, summary: 'Mail a code to an address of a listed domain, which a registration in mode domains needs' },
  { body: Type.Object({ email: Type.String({ minLength: 1, maxLength: 1000 }) }) },
  { 200: Type.Object({ verificationId: Uuid, email: Type.String(), expiresAt: Timestamp }) },
)

export const verifyRegistrationEmail = endpoint(
  'POST /api/auth/register/email/verify',
  { ...page, summary: 'Prove the address with the code: get what the registration presents' },
  { body: Type.Object({ verificationId: Uuid, code: Type.String({ maxLength: 100, writeOnly: true }) }) },
  { 200: Type.Object({ emailProof: Type.String(), email: Type.String(), expiresAt: Timestamp }) },
)
