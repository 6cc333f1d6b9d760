import type { SigningRequest, SigningStatus } from '@countersign/protocol/signing/signing'
import { redirectUriOrigins } from '#clients/registration/settings.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'

/**
 * App data of a request; the name is missing if the app has been deleted. `appNameThen` is the name at the time of the
 * request, and from the answer on, at that of the answer.
 */
type RequestingAppRow = {
  clientId: ClientId
  status: SigningStatus
  appName: string | null
  appNameThen: string | null
  appIconUrl: string | null
  appWebsiteUrl: string | null
  appRedirectUris: string[] | null
}

/**
 * Maps the app of a signing request to the user's view. An ended request shows the name of that time: an app that
 * renames itself changes nothing in what was signed. Its present picture is omitted then, because it may show the new
 * name.
 */
export function toRequestingApp(request: RequestingAppRow): SigningRequest['app'] {
  const { clientId, status, appName, appNameThen, appIconUrl, appWebsiteUrl, appRedirectUris } = request
  const name = (status === 'pending' ? appName : (appNameThen ?? appName)) ?? clientId
  return {
    clientId,
    name,
    iconUrl: name === appName ? appIconUrl : null,
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
