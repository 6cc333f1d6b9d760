import type { SigningRequest } from '@countersign/protocol/signing/signing'

/**
 * Returns the address of an app to go back to: the page that led here, if it belongs to the app, else its website, if
 * that has an origin of the app. Any other address could be anyone's. Undefined if there is none.
 */
export function addressOfApp(
  { origins, websiteUrl }: Pick<SigningRequest['app'], 'origins' | 'websiteUrl'>,
  referrer: string,
): string | undefined {
  return [referrer, websiteUrl ?? ''].find((address) => {
    const url = URL.parse(address)
    return url !== null && /^https?:$/.test(url.protocol) && origins.includes(url.origin)
  })
}
