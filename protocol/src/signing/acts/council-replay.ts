/**
 * Replays the councils of an organization from its verified trail: whether those who signed each decision were
 * permitted to make it. Who is an owner, that two identities are two people, and suspensions by a removal are the word
 * of the service.
 */
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { councilSettings } from '../../formats/acts/act.ts'
import { isObject } from '../../formats/json.ts'
import {
  type Admitted,
  applyDecision,
  type Council,
  type CouncilDecision,
  type CouncilError,
  isResetPending,
} from './council.ts'
import type { VerifiedTrailRecord } from './trail-verification.ts'

/** A decision of a council that was not permitted, was recorded without a signature, or has malformed details. */
export type CouncilReplayError = CouncilError | 'unsigned_decision' | 'malformed_decision'

/** Council after the last record; undefined if the details of a decision were erased. */
export type ReplayedCouncil = Council | undefined

const Rights = { maySign: Type.Boolean(), mayApprove: Type.Boolean() }
const Update = Type.Object({
  approvalsNeeded: Type.Optional(Type.Integer()),
  requireSignedActions: Type.Optional(Type.Boolean()),
  from: Type.Object({
    approvalsNeeded: Type.Optional(Type.Integer()),
    requireSignedActions: Type.Optional(Type.Boolean()),
    signatories: Type.Optional(Type.Array(Type.Object({ identityId: Type.String(), ...Rights }))),
  }),
})
const Admission = Type.Object({ identityId: Type.String(), from: Type.Object(Rights) })
const Suspension = Type.Object({ identityId: Type.String() })
const Removal = Type.Object({ from: Type.Object({ identityId: Type.String() }) })
/** Event without signatures, as the trail records it. */
const UnsignedEvent = Type.Object({
  identityId: Type.Union([Type.String(), Type.Null()]),
  details: Type.Object({
    memberIdentityId: Type.Optional(Type.String()),
    changed: Type.Optional(Type.Array(Type.String())),
  }),
})
type UnsignedEvent = Static<typeof UnsignedEvent>

const none: Council = { approvalsNeeded: 0, signatories: [], resetRequestedAt: undefined, resetAt: undefined }
const signedDecisions = [
  'organization.signatory.admitted',
  'organization.signatory.suspended',
  'organization.council.reset_requested',
  'organization.council.reset',
]

/**
 * Returns a replay of one trail, from its first record on. `add` takes the next verified record with its details, and
 * returns why its decision was not permitted. `council` is the state after the records so far.
 */
export function createCouncilReplay() {
  let council: ReplayedCouncil = none
  let requireSignedActions = false
  return {
    add(record: VerifiedTrailRecord, details: unknown): CouncilReplayError | undefined {
      const read = readDecisions(record, details, { ...(council ?? none), requireSignedActions })
      if (read === 'unsigned_decision' || read === 'malformed_decision') return read
      // From then on the members of the council are unknown.
      if (read === 'erased') council = undefined
      if (!council || read === 'erased') return undefined
      for (const { decision, by } of read) {
        const approvedBy = record.acts.slice(1).map(({ identityId }) => identityId)
        const signers = { by: { signatoryId: by, isOwner: true }, approvedBy }
        const result: ReturnType<typeof applyDecision> = applyDecision(
          council,
          decision,
          signers,
          new Date(record.entry.at),
        )
        if ('flaw' in result) return result.flaw
        council = result.council
      }
      requireSignedActions = readRequiredSignatures(record, details) ?? requireSignedActions
      return undefined
    },
    council: (): ReplayedCouncil => council,
  }
}

/** Council, and whether the organization requires signatures, as the signed records so far say. */
type State = Council & { requireSignedActions: boolean }
type Decided = { decision: CouncilDecision; by: string }

/** Reads what a record decides about the council. */
function readDecisions(
  record: VerifiedTrailRecord,
  details: unknown,
  council: State,
): Decided[] | 'unsigned_decision' | 'malformed_decision' | 'erased' {
  const [act] = record.acts
  return act ? readSigned(record, { details, by: act.identityId }, council) : readUnsigned(record, details, council)
}

function readSigned(
  { entry: { action } }: VerifiedTrailRecord,
  { details, by }: { details: unknown; by: string },
  council: State,
): Decided[] | 'malformed_decision' | 'erased' {
  const one = (decision: CouncilDecision): Decided[] => [{ decision, by }]
  const unread = details === undefined ? 'erased' : 'malformed_decision'
  switch (action) {
    case 'organization.updated':
      if (Check(Update, details)) return readUpdate(details, council).map((decision) => ({ decision, by }))
      return isOtherUpdate(details) ? [] : unread
    case 'organization.deleted':
      return council.approvalsNeeded > 0 ? one({ kind: 'widen' }) : []
    case 'organization.signatory.admitted':
      return Check(Admission, details)
        ? one({ kind: 'admit', ...toAdmitted({ ...details.from, identityId: details.identityId }) })
        : unread
    case 'organization.signatory.suspended':
      return Check(Suspension, details) ? one({ kind: 'suspend', signatoryId: details.identityId }) : unread
    case 'organization.member.removed': {
      // The removed member could be one of the signatories.
      if (!Check(Removal, details)) return council.signatories.length > 0 ? unread : []
      const removed = details.from.identityId
      return council.signatories.flatMap(({ signatoryId }) =>
        signatoryId === removed ? one({ kind: 'suspend', signatoryId }) : [],
      )
    }
    case 'organization.council.reset_requested':
      return one({ kind: 'request_reset' })
    case 'organization.council.reset':
      return one({ kind: 'reset' })
    default:
      return []
  }
}

/** Returns whether an update changes nothing that a council protects. */
function isOtherUpdate(details: unknown): boolean {
  return isObject(details) && !councilSettings.some((setting) => Object.hasOwn(details, setting))
}

function readUpdate(details: Static<typeof Update>, state: State): CouncilDecision[] {
  const before = state.approvalsNeeded
  const { approvalsNeeded = before, requireSignedActions, from } = details
  if (before === 0 && approvalsNeeded > 0)
    return [{ kind: 'found', approvalsNeeded, people: (from.signatories ?? []).map(toAdmitted) }]
  // `from` is what the service says: it could hide that signatures were required.
  const wereRequired = state.requireSignedActions || from.requireSignedActions === true
  const widens = before > 0 && requireSignedActions === false && wereRequired
  return [
    ...(widens ? [{ kind: 'widen' } as const] : []),
    ...(approvalsNeeded === before ? [] : [{ kind: 'change_approvals_needed', approvalsNeeded } as const]),
  ]
}

/** Returns what a record says about required signatures. Only a signature turns them on or off. */
function readRequiredSignatures({ entry, acts }: VerifiedTrailRecord, details: unknown): boolean | undefined {
  const isSignedUpdate = entry.action === 'organization.updated' && acts.length > 0
  return isSignedUpdate && Check(Update, details) ? details.requireSignedActions : undefined
}

function toAdmitted({ identityId, maySign, mayApprove }: { identityId: string } & Omit<Admitted, 'signatoryId'>) {
  return { signatoryId: identityId, maySign, mayApprove }
}

/** Reads a record without signatures: only what takes something from a council, or delays it, is done so. */
function readUnsigned(
  { entry: { action, actor, at } }: VerifiedTrailRecord,
  details: unknown,
  { signatories, approvalsNeeded, resetRequestedAt }: Council,
): Decided[] | 'unsigned_decision' | 'erased' {
  const event = Check(UnsignedEvent, details) ? details : undefined
  const ofSignatory = (identityId: string | null | undefined) =>
    signatories.find(({ signatoryId }) => signatoryId === identityId)?.signatoryId
  switch (action) {
    case 'organization.council.reset_vetoed': {
      // A restore of version 0.1.0 vetoed requests that had expired. That changes nothing.
      if (actor === 'operator' && !isResetPending(resetRequestedAt, new Date(at))) return []
      const by = ofSignatory(event?.identityId) ?? signatories[0]?.signatoryId
      return by === undefined ? [] : [{ decision: { kind: 'veto_reset' }, by }]
    }
    // A signatory whose keys were reset may be someone else.
    case 'organization.member.keys_reset':
    case 'organization.member.removed': {
      if (details === undefined && signatories.length > 0) return 'erased'
      const removed = ofSignatory(removedBy(event))
      return removed === undefined ? [] : [{ decision: { kind: 'suspend', signatoryId: removed }, by: removed }]
    }
    case 'organization.updated':
      return event?.details.changed?.some((field) => isGuarded(field, approvalsNeeded)) ? 'unsigned_decision' : []
    default:
      return signedDecisions.includes(action) ? 'unsigned_decision' : []
  }
}

/** Returns the identity that was removed: a member removed by another one, or who left. */
function removedBy(event: UnsignedEvent | undefined): string | null | undefined {
  return event?.details.memberIdentityId ?? event?.identityId
}

/** Without a council, required signatures are turned off by a signature alone. */
function isGuarded(field: string, approvalsNeeded: number): boolean {
  return councilSettings.some((setting) => setting === field) && (field === 'approvalsNeeded' || approvalsNeeded > 0)
}
