import { styleText } from 'node:util'
import type { Algorithm, NewApp } from '@countersign/protocol/apps'
import { isStandardScope, scopesOf, standardScopes, type StandardScope } from '@countersign/protocol/formats/scope'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { askText, mayAsk, printJson, printTable } from '../terminal.ts'
import { fieldsOf } from './show.ts'

/** The flags; those in the rest are named as the API names its fields. */
type Options = Omit<
  Partial<NewApp>,
  'redirectUris' | 'postLogoutRedirectUris' | 'allowedScopes' | 'supportsE2ee' | 'idTokenSignedResponseAlg'
> & {
  redirectUri?: string[]
  postLogoutRedirectUri?: string[]
  scope?: StandardScope[]
  e2ee?: true
  alg?: Algorithm
}

export function addCreate(apps: Command): void {
  apps
    .command('create')
    .description('register an app; its secret is shown this once')
    .option('--name <name>', 'what people see when they sign in')
    .option('--redirect-uri <uri>', 'where they return to; give it once for each', collect)
    .option('--post-logout-redirect-uri <uri>', 'where they go who sign out; give it once for each', collect)
    .option('--scope <scopes>', `what it may ask for, of: ${standardScopes.join(' ')}`, collectScopes)
    .option('--public', 'it runs where it cannot keep a secret (browser, phone)')
    .option('--e2ee', 'it takes keys for end-to-end encryption')
    .addOption(new Option('--alg <alg>', 'what signs its ID tokens').choices(['RS256', 'ES256', 'EdDSA']))
    .option('--description <text>', 'one sentence about it')
    .option('--icon-url <url>', 'its icon')
    .option('--website-url <url>', 'its website')
    .option('--privacy-url <url>', 'its privacy policy')
    .option('--terms-url <url>', 'its terms of service')
    .option('--access-token-ttl-seconds <seconds>', 'how long its access tokens live', toSeconds)
    .option('--refresh-token-ttl-seconds <seconds>', 'how long its refresh tokens live', toSeconds)
    .action(async (options: Options, command: Command) => {
      const settings = settingsOf(command)
      const app = await call(settings, 'POST /api/admin/apps', { body: await newApp(options, settings, command) })
      if (settings.json) return printJson(app)

      const { clientSecret } = app
      printTable([...fieldsOf(app), ...(clientSecret ? [['Client secret', clientSecret]] : [])])
      if (clientSecret) console.log(styleText('yellow', '\nThe secret is shown this once: store it now.'))
    })
}

/** The app to register. What is required and missing is asked for, or refused where nobody can be asked. */
async function newApp(options: Options, settings: Settings, command: Command): Promise<NewApp> {
  const { name, redirectUri, postLogoutRedirectUri, scope, e2ee, alg, ...details } = options
  if ((!name || !redirectUri) && !mayAsk(settings)) command.error('error: --name and --redirect-uri are required')

  return {
    ...details,
    name: name ?? (await askText({ message: 'Name of the app', validate: refuseEmpty })),
    redirectUris: redirectUri ?? [await askText({ message: 'Redirect URI', validate: refuseNoUrl })],
    ...(postLogoutRedirectUri ? { postLogoutRedirectUris: postLogoutRedirectUri } : {}),
    ...(scope ? { allowedScopes: scope } : {}),
    ...(e2ee ? { supportsE2ee: true } : {}),
    ...(alg ? { idTokenSignedResponseAlg: alg } : {}),
  }
}

function refuseEmpty(text = ''): string | undefined {
  return text.trim() === '' ? 'People must see what they sign in to' : undefined
}

function refuseNoUrl(text = ''): string | undefined {
  return URL.canParse(text) ? undefined : 'An absolute URL, such as https://app.example/callback'
}

function collect(uri: string, before: string[] = []): string[] {
  return [...before, uri]
}

function collectScopes(list: string, before: StandardScope[] = []): StandardScope[] {
  const unknown = scopesOf(list).find((scope) => !isStandardScope(scope))
  if (unknown) throw new InvalidArgumentError(`${unknown} is not a scope that an app may have.`)
  return [...before, ...scopesOf(list).filter(isStandardScope)]
}

export function toSeconds(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('A whole number of seconds.')
  return Number(text)
}
