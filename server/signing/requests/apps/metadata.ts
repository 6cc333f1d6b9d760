import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { redirectUriOrigins } from '#clients/registration/settings.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'

/** App data of a request; the name is missing if the app has been deleted. */
type RequestingAppRow = {
  clientId: ClientId
  appName: string | null
  appIconUrl: string | null
  appWebsiteUrl: string | null
  appRedirectUris: string[] | null
}

/** Maps the app of a signing request to the user's view. */
export function toRequestingApp(request: RequestingAppRow): SigningRequest['app'] {
  const { clientId, appName, appIconUrl, appWebsiteUrl, appRedirectUris } = request
  return {
    clientId,
    name: appName ?? clientId,
    iconUrl: appIconUrl,
    websiteUrl: appWebsiteUrl,
    origins: redirectUriOrigins(appRedirectUris ?? []),
  }
}

const errors = defineErrors({
  invalid_request: [400, 'metadata must be at most 16 KiB of JSON, nested at most 8 levels.'],
})

/** Serializes the metadata that an app stores with its request. Throws `invalid_request` if it is too large. */
export function serializeMetadata(metadata: Record<string, unknown> | undefined): string | null {
  if (metadata === undefined) return null
  const written = JSON.stringify(metadata)
  const fits = Buffer.byteLength(written) <= limits.signingMetadataBytesMax
  if (!fits || depthOf(metadata) > limits.signingMetadataDepthMax) throw errors.invalid_request()
  return written
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
