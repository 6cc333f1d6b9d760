import { limits } from '@countersign/protocol/formats/limits'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  invalid_request: [400, 'The metadata is at most 16 KiB of JSON, nested at most 8 levels deep.'],
})

/** What an app keeps with its request, as it is stored. Refuses `invalid_request` for more than there may be. */
export function writeMetadata(metadata: Record<string, unknown> | undefined): string | null {
  if (metadata === undefined) return null
  const written = JSON.stringify(metadata)
  const fits = Buffer.byteLength(written) <= limits.signingMetadataBytesMax
  if (!fits || depthOf(metadata) > limits.signingMetadataDepthMax) throw refuse.invalid_request()
  return written
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
