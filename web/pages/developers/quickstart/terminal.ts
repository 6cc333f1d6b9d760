import type { App } from '@countersign/protocol/clients/apps'

type Settings = Pick<App, 'clientId' | 'redirectUris' | 'allowedScopes' | 'public'>

/**
 * Returns a program that signs the developer in to their app in a terminal. It works with any redirect URI, because
 * nothing needs to listen there. It does all checks that an app must do, and runs without changes.
 */
export function terminalProgram({ clientId, redirectUris, allowedScopes, public: isPublic }: Settings, issuer: string) {
  const [redirectUri = ''] = redirectUris
  const scope = allowedScopes.filter((each) => ['openid', 'profile'].includes(each)).join(' ')
  const proof = isPublic ? 'None()' : 'ClientSecretPost(process.env.CLIENT_SECRET)'
  const options = issuer.startsWith('http:') ? '{ execute: [client.allowInsecureRequests] }' : '{}'
  return `import { createInterface } from 'node:readline/promises'
import * as client from 'openid-client'

const issuer = new URL('${issuer}')
const id = '${clientId}'
const proof = client.${proof}
const options = ${options}
const config = await client.discovery(issuer, id, {}, proof, options)

const pkceCodeVerifier = client.randomPKCECodeVerifier()
const challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier)
const expectedState = client.randomState()
const address = client.buildAuthorizationUrl(config, {
  redirect_uri: ${JSON.stringify(redirectUri)},
  scope: '${scope}',
  state: expectedState,
  code_challenge: challenge,
  code_challenge_method: 'S256',
})

const terminal = createInterface(process.stdin, process.stdout)
console.log('Open', address.href)
const arrived = await terminal.question('Paste where you arrive: ')
terminal.close()

const answer = new URL(arrived)
const checks = { pkceCodeVerifier, expectedState }
const tokens = await client.authorizationCodeGrant(config, answer, checks)
console.log(tokens.claims())
`
}
