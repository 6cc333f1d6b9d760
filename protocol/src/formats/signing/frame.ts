import { concatBytes } from './bytes.ts'
import { type JsonObject, writeCanonicalJson } from './canonical-json.ts'

/** What a frame is for. A signature or digest of one kind is never that of another. */
export type FrameLabel =
  | 'countersign/client-id/v1'
  | `countersign/${
      | 'approval'
      | 'approval-presence'
      | 'act'
      | 'act-presence'
      | 'act-proposal'
      | 'act-secret'
      | 'audit'
      | 'audit-details'
      | 'key-link'
      | 'key-possession'
      | 'inclusion-promise'
      | 'trail'
      | 'trail-details'}/v2`

/** Occurs in no UTF-8 text (RFC 3629 §3), so no payload, note or JWS is a frame. */
const start = 0xff

/**
 * Frames an object for a signature or a digest: the byte FF, the label, a zero byte, and the object as canonical JSON,
 * followed by `tail`. The label contains no zero byte and an object ends with its brace, so two different inputs never
 * have the same frame. Throws a `RangeError` for an object without canonical form.
 */
export function frame(label: FrameLabel, value: JsonObject, tail = new Uint8Array()): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(`${label}\0${writeCanonicalJson(value)}`)
  return concatBytes(Uint8Array.of(start), text, tail)
}
