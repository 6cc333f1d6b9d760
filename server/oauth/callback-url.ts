/**
 * A redirect URI with the parameters of an authorization response (RFC 6749 §4.1.2, RFC 9207 §2). The query that the
 * app registered stays; what is undefined is left out.
 */
export function callbackUrl(redirectUri: string, parameters: Record<string, string | undefined>): string {
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) url.searchParams.append(name, value)
  return url.href
}
