import { Type, type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../formats/limits.ts'
import { IdentityId } from '../ids.ts'
import { Base64, Timestamp } from '../values.ts'

const open = { security: 'none', cors: 'any origin' } as const

const Place = Type.Integer({ minimum: 0 })
const PlaceText = Type.String({ pattern: '^(0|[1-9][0-9]{0,9})$' })
const Hashes = Type.Array(Type.String(), { description: 'Hashes of the audit path, base64, lowest first' })
const Leaf = Type.String({ description: 'Exact text whose UTF-8 bytes are the leaf: JSON, by RFC 8785' })
const note = { description: 'A checkpoint (C2SP tlog-checkpoint), signed by the log key' }
const Note = Type.String(note)

/** Log entry of a key, with its proof under the accompanying checkpoint. */
export const LoggedKeyEvent = Type.Object({ index: Place, leaf: Leaf, hashes: Hashes })
export type LoggedKeyEvent = Static<typeof LoggedKeyEvent>

/** Promise of the log to contain a leaf within a day, signed with the log key over its frame. */
const InclusionPromise = Type.Object({
  due: Timestamp,
  issued: Timestamp,
  leaf: Type.String({ description: 'Hash of the leaf (RFC 9162 §2.1.1), base64' }),
  log: Type.String({ description: 'Name of the log' }),
  signature: Type.String({ description: 'Ed25519 signature by the log key, base64' }),
})

/** New log entry of a key, for the client that made it: its proof exists once it has an index. */
export const PromisedKeyEvent = Type.Object({ leaf: Leaf, promise: InclusionPromise })
export type PromisedKeyEvent = Static<typeof PromisedKeyEvent>

export const getCheckpoint = endpoint(
  'GET /api/transparency/checkpoint',
  { ...open, summary: 'Get the signed head of the log of signing keys: a text (C2SP tlog-checkpoint)' },
  {},
  { 200: Type.String({ ...note, contentMediaType: 'text/plain' }) },
)

const LogKeys = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('OKP'),
      crv: Type.Literal('Ed25519'),
      x: Type.String(),
      kid: Type.String(),
      use: Type.Literal('sig'),
      alg: Type.Literal('EdDSA'),
    }),
  ),
  origin: Type.String({ description: 'Name of the log' }),
  verifierKey: Type.String({ description: 'The same key in the format of C2SP log tools' }),
  createdAt: Timestamp,
})

export const readLogKeys = endpoint(
  'GET /api/transparency/jwks',
  { ...open, summary: 'Get the key that signs checkpoints and receipts, to be stored by verifiers (JWKS)' },
  {},
  { 200: LogKeys },
)

export const listLeaves = endpoint(
  'GET /api/transparency/leaves',
  { ...open, summary: `The leaves of the log by their places, up to ${limits.transparencyLeavesMax} at a time` },
  { querystring: Type.Object({ start: PlaceText, count: Type.Optional(PlaceText) }) },
  { 200: Type.Object({ size: Place, leaves: Type.Array(Type.Object({ index: Place, leaf: Leaf })) }) },
)

export const listKeyEvents = endpoint(
  'GET /api/transparency/identities/:identityId',
  {
    ...open,
    summary: `Log entries of an identity's signing keys, with proofs, up to ${limits.transparencyEventsMax} at a time`,
  },
  {
    params: Type.Object({ identityId: IdentityId }),
    querystring: Type.Object({
      start: Type.Optional(PlaceText),
      count: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$' })),
    }),
  },
  {
    200: Type.Object({
      checkpoint: Note,
      events: Type.Array(LoggedKeyEvent),
      nextStart: Type.Union([Place, Type.Null()], { description: 'The start of the next page; null on the last' }),
    }),
  },
)

export const listAuditHeads = endpoint(
  'GET /api/transparency/audit',
  { ...open, summary: `The daily heads of the audit log in this log, up to ${limits.transparencyEventsMax} at a time` },
  { querystring: Type.Object({ start: Type.Optional(PlaceText) }) },
  {
    200: Type.Object({
      checkpoint: Note,
      heads: Type.Array(LoggedKeyEvent),
      nextStart: Type.Union([Place, Type.Null()], { description: 'The start of the next page; null on the last' }),
    }),
  },
)

export const getInclusionProof = endpoint(
  'GET /api/transparency/inclusion',
  { ...open, summary: 'Get the proof that the tree of a size contains a leaf (RFC 9162 §2.1.3)' },
  { querystring: Type.Object({ leafHash: Base64, size: Type.Optional(PlaceText) }) },
  { 200: Type.Object({ index: Place, size: Place, hashes: Hashes }) },
)

export const getConsistencyProof = endpoint(
  'GET /api/transparency/consistency',
  { ...open, summary: 'Get the proof that the tree of one size extends that of another (RFC 9162 §2.1.4)' },
  { querystring: Type.Object({ from: PlaceText, to: Type.Optional(PlaceText) }) },
  { 200: Type.Object({ from: Place, to: Place, hashes: Hashes }) },
)
