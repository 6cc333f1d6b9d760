import { isObject } from '@countersign/protocol/formats/json'
import { parseCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import { ApiError } from '../api/call.ts'
import type { ActFields, ActPlace } from './act.ts'

/** What `signed_action_required` asks to sign: a started act. `secretSalt` shows what commitments are for. */
export type Refusal = { place: ActPlace; act: ActFields; secretSalt: string | undefined }

/** Parses the act that an error asks to sign; returns undefined for any other error. */
export function parseRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof ApiError) || error.code !== 'signed_action_required') return undefined
  const { actId, identityId, details, salt, secretSalt, statement, expiresAt, approvalsNeeded } = error.fields
  const texts = { actId, identityId, salt, statement, expiresAt }
  if (!isTexts(texts) || !isObject(details)) return undefined
  const stated = parseCanonicalJson(texts.statement)
  if (!isObject(stated) || typeof stated['organizationId'] !== 'string' || typeof stated['action'] !== 'string')
    return undefined
  const { organizationId, action } = stated
  return {
    place: { organizationId, actId: texts.actId, identityId: texts.identityId },
    act: { ...texts, details, role: 'sign', action, approvalsNeeded: Number(approvalsNeeded ?? 0), proposal: null },
    secretSalt: typeof secretSalt === 'string' ? secretSalt : undefined,
  }
}

function isTexts<Names extends string>(values: Record<Names, unknown>): values is Record<Names, string> {
  return Object.values(values).every((value) => typeof value === 'string')
}
