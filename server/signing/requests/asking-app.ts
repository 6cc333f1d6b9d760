import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { originsOf } from '#clients/registration/redirect-uri.ts'

/** An app as a request remembers it: what it is called is gone where it has been deleted since. */
type Remembered = {
  clientId: string
  appName: string | null
  appIconUrl: string | null
  appWebsiteUrl: string | null
  appRedirectUris: string[] | null
}

/** The app that asks for a signature, as the person sees it. */
export function toAskingApp(request: Remembered): SigningRequest['app'] {
  const { clientId, appName, appIconUrl, appWebsiteUrl, appRedirectUris } = request
  return {
    clientId,
    name: appName ?? clientId,
    iconUrl: appIconUrl,
    websiteUrl: appWebsiteUrl,
    origins: originsOf(appRedirectUris ?? []),
  }
}
