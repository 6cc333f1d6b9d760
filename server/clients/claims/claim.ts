import { isDeepStrictEqual } from 'node:util'
import type { ClaimMapping, ClaimMappings, ClaimMappingsChange } from '@countersign/protocol/clients/claims'
import { isShown } from '@countersign/protocol/formats/display-name'
import type { ClientId } from '@countersign/protocol/ids'
import { findGroupsByKey, hasReservedPrefix, protectGroups } from '#accounts/groups/group.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { getApp, lockManagedApp } from '#clients/registration/app.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { literalPrefix } from './mapping.ts'
import { isReservedClaim } from './reserved.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Invalid claims.'],
  reserved_claim: [400, 'The name of a claim is reserved.'],
})

/** Reference to the mapped claims of an app by an operator. */
export type AppClaimsRef = { operator: Operator; clientId: ClientId }

/** Returns the mapped claims of an app. Throws `app_not_found`. */
export async function getClaims(db: Database, { operator, clientId }: AppClaimsRef): Promise<ClaimMappings> {
  const { claims } = await getApp(db, { manager: operator, clientId })
  return { claims }
}

/**
 * Replaces the mapped claims of an app. Groups that `first` and `map` newly name become protected. Also returns whether
 * something changed. Throws `invalid_request`, `reserved_claim`, `app_not_found`.
 */
export async function replaceClaims(
  db: Database,
  { operator, clientId }: AppClaimsRef,
  requested: ClaimMappingsChange,
  now: Date,
): Promise<{ claims: ClaimMapping[]; isChanged: boolean }> {
  const claims = mappingsOf(requested.claims)
  requireClaims(claims)
  return operatorTransaction(db, operator, async (tx) => {
    const before = await lockManagedApp(tx, { manager: operator, clientId })
    await store.replaceClaims(tx, clientId, { claims, groupKeys: namedGroups(claims) })
    const known = new Set(namedGroups(before.claims))
    const named = await findGroupsByKey(
      tx,
      namedGroups(claims).filter((key) => !known.has(key)),
    )
    const groupIds = named.map(({ groupId }) => groupId)
    await protectGroups(tx, { operator, clientId, groupIds }, now)
    const details = { changed: ['claims'] }
    await recordAuditEvent(tx, { action: 'app.updated', ...auditFieldsOf(operator), clientId, details }, now)
    return { claims, isChanged: !isDeepStrictEqual(before.claims, claims) }
  })
}

/** Returns mappings as they are stored, with what a request leaves out. */
export function mappingsOf(sent: ClaimMappingsChange['claims']): ClaimMapping[] {
  return sent.map(toMapping)
}

function toMapping(sent: ClaimMappingsChange['claims'][number]): ClaimMapping {
  const { claim, source, scope, in: places = ['id_token', 'userinfo'], first, map, default: otherwise } = sent
  return {
    ...{ claim, source, scope, in: places },
    as: sent.as ?? (source.startsWith(literalPrefix) ? 'string' : 'array'),
    ...(first && { first }),
    ...(map && { map }),
    ...(otherwise !== undefined && { default: otherwise }),
  }
}

/** Throws `reserved_claim`, or `invalid_request` with what is wrong with a claim. */
function requireClaims(claims: ClaimMapping[]): void {
  const names = claims.map(({ claim }) => claim.toLowerCase())
  for (const [nth, mapping] of claims.entries()) {
    const { claim } = mapping
    if (isReservedClaim(claim))
      throw errors.reserved_claim({ sentence: `The claim ${claim} is reserved.`, fields: { claim } })
    if (names.indexOf(claim.toLowerCase()) !== nth)
      throw errors.invalid_request({ sentence: `The claim ${claim} is sent twice. Letter case makes no difference.` })
    const objection = objectionTo(mapping)
    if (objection !== undefined) throw errors.invalid_request({ sentence: `The claim ${claim} ${objection}.` })
  }
}

function objectionTo({ source, scope, as, first, map, default: otherwise }: ClaimMapping): string | undefined {
  const isLiteral = source.startsWith(literalPrefix)
  if (!isLiteral && scope !== source) return `is made of ${source}, so its scope must be ${source}`
  if (isLiteral && (first ?? map ?? otherwise) !== undefined) return 'is a literal, which has no first, map or default'
  if (first && as !== 'string') return 'has first, which only a string has'
  const values = [isLiteral ? source.slice(literalPrefix.length) : undefined, otherwise, ...Object.values(map ?? {})]
  for (const value of values) {
    if (value === undefined) continue
    if (!isShown(value)) return 'has a value with an invisible character'
    if (hasReservedPrefix(value)) return 'has a value that begins with system: or org:'
  }
  const key = Object.keys(map ?? {}).find((each) => !isShown(each))
  return key === undefined ? undefined : 'maps a key with an invisible character'
}

/** Returns the keys of groups to which mappings give a meaning. */
export function namedGroups(claims: ClaimMapping[]): string[] {
  const named = claims.flatMap(({ source, first = [], map = {} }) =>
    source === 'groups' ? [...first, ...Object.keys(map)] : [],
  )
  return [...new Set(named)]
}
