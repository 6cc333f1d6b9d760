import type { App } from '@countersign/protocol/clients/apps'
import type guideCode from './guide-code.json'
import { terminalProgram } from './terminal.ts'

/** How a developer can try their app, in the order of the choice. */
export const recipeNames = ['terminal', 'node', 'express', 'fastify', 'nextjs', 'vite', 'curl'] as const
export type RecipeName = (typeof recipeNames)[number]
export type GuideCode = typeof guideCode

/** What to do in one step: run commands in a terminal, create a file, or sign in to get the code for the next step. */
export type RecipeStep = CodeStep | { kind: 'browser' }
type CodeStep = { kind: 'terminal' | 'file' | 'secrets'; label: string; code: string }

export type Recipe = {
  steps: RecipeStep[]
  /** The redirect URI that the code uses, where the browser returns. */
  redirectUri: string
  /** Where the code asks to return after a sign-out, if it signs out. */
  postLogoutRedirectUri: string | undefined
  /** Where the developer starts the sign-in, if the app listens there. */
  startUrl: string | undefined
  /** The guide that explains the code. */
  guide: string
}

export type RecipeInput = {
  app: Pick<App, 'clientId' | 'redirectUris' | 'allowedScopes' | 'public'>
  /** Undefined if it is no longer known. */
  clientSecret: string | undefined
  baseUrl: string
  issuer: string
  guideCode: GuideCode
}

/** Returns the recipes for an app. The servers of the guides keep a secret, which an app in a browser does not have. */
export function recipesFor({ public: isPublic }: Pick<App, 'public'>): RecipeName[] {
  return recipeNames.filter((name) => (isPublic ? !serverGuides.has(name) : name !== 'vite'))
}

const serverGuides: ReadonlySet<RecipeName> = new Set(['node', 'express', 'fastify', 'nextjs'])

/** Returns the recipe that is shown first. */
export function firstRecipeFor(app: Pick<App, 'public'>): RecipeName {
  return app.public ? 'terminal' : 'node'
}

/** Returns the steps of a recipe, with the values of this app in the code. They run as they are shown. */
export function recipe(name: RecipeName, input: RecipeInput): Recipe {
  if (name === 'terminal') return terminalRecipe(input)
  if (name === 'vite') return viteRecipe(input)
  return name === 'curl' ? curlRecipe(input) : guideRecipe(name, input)
}

const unknownSecret = 'YOUR_CLIENT_SECRET'
const localAppUrl = 'http://localhost:3000'

function terminalRecipe({ app, clientSecret = unknownSecret, issuer }: RecipeInput): Recipe {
  const secret = app.public ? '' : `CLIENT_SECRET=${clientSecret} `
  const [redirectUri = ''] = app.redirectUris
  return {
    steps: [
      { kind: 'terminal', label: 'Terminal', code: 'npm install openid-client@6.8.9' },
      { kind: 'file', label: 'first-sign-in.mjs', code: terminalProgram(app, issuer) },
      { kind: 'terminal', label: 'Terminal', code: `${secret}node first-sign-in.mjs` },
    ],
    redirectUri,
    postLogoutRedirectUri: undefined,
    startUrl: undefined,
    guide: 'connect-an-app',
  }
}

function viteRecipe({ app, issuer, guideCode }: RecipeInput): Recipe {
  const { install, files } = guideCode.vite
  const appUrl = appUrlOf(app)
  const settings = [`VITE_ISSUER=${issuer}`, `VITE_CLIENT_ID=${app.clientId}`]
  const command = `npx --no-install vite --port ${new URL(appUrl).port || '3000'} --strictPort`
  return {
    steps: [
      { kind: 'terminal', label: 'Terminal', code: install },
      ...filesOf(files),
      { kind: 'terminal', label: 'Terminal', code: [...settings, command].join(' \\\n  ') },
    ],
    redirectUri: `${appUrl}/callback`,
    postLogoutRedirectUri: `${appUrl}/`,
    startUrl: `${appUrl}/`,
    guide: 'sign-in-with-vite',
  }
}

const filesOf = (files: { path: string; code: string }[]): RecipeStep[] =>
  files.map(({ path, code }) => ({ kind: 'file', label: path, code }))

function guideRecipe(
  name: Exclude<keyof GuideCode, 'vite'>,
  { app, clientSecret = unknownSecret, issuer, guideCode }: RecipeInput,
): Recipe {
  const { install, files } = guideCode[name]
  const appUrl = appUrlOf(app)
  const settings = [
    `ISSUER=${issuer}`,
    `APP_URL=${appUrl}`,
    `PORT=${new URL(appUrl).port || '3000'}`,
    `CLIENT_ID=${app.clientId}`,
    `CLIENT_SECRET=${clientSecret}`,
  ]
  // The guides of Express, Fastify and Next.js encrypt or sign the session of the browser.
  const hasSession = name !== 'node'
  const isNext = name === 'nextjs'
  const run: RecipeStep[] = isNext
    ? [
        { kind: 'secrets', label: '.env.local', code: `${settings.join('\n')}\nSESSION_SECRET=${sessionSecret()}\n` },
        { kind: 'terminal', label: 'Terminal', code: 'npm run dev' },
      ]
    : [
        {
          kind: 'terminal',
          label: 'Terminal',
          code: [...settings, ...(hasSession ? ['SESSION_SECRET=$(openssl rand -hex 32)'] : []), 'node app.mjs'].join(
            ' \\\n  ',
          ),
        },
      ]
  return {
    steps: [{ kind: 'terminal', label: 'Terminal', code: install }, ...filesOf(files), ...run],
    redirectUri: `${appUrl}/callback`,
    postLogoutRedirectUri: `${appUrl}/`,
    startUrl: `${appUrl}/sign-in`,
    guide: `sign-in-with-${name}`,
  }
}

/** Returns where the app of a guide is to run: at a registered redirect URI of the form that the guides use. */
function appUrlOf({ redirectUris }: Pick<App, 'redirectUris'>): string {
  return appUrlsIn(redirectUris)[0] ?? localAppUrl
}

function appUrlsIn(redirectUris: string[]): string[] {
  return redirectUris.flatMap((uri) => {
    const url = URL.parse(uri)
    return url !== null && isCallback(url) ? [url.origin] : []
  })
}

/** Returns where the code of the guides asks to return after a sign-out, for an app with these redirect URIs. */
export function postLogoutRedirectUrisFor(redirectUris: string[]): string[] {
  return [...new Set(appUrlsIn(redirectUris).map((appUrl) => `${appUrl}/`))]
}

function isCallback({ pathname, search, hostname }: URL): boolean {
  return pathname === '/callback' && search === '' && hostname === 'localhost'
}

function sessionSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(32))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function curlRecipe({ app, clientSecret = unknownSecret, baseUrl, issuer }: RecipeInput): Recipe {
  const { clientId, redirectUris, public: isPublic } = app
  const [redirectUri = ''] = redirectUris
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopeOf(app),
    code_challenge_method: 'S256',
  })
  const start = `VERIFIER=$(openssl rand -hex 32)
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
echo "${issuer}/signin?${query}&code_challenge=$CHALLENGE"`
  // A step of its own, because a shell could read the next line of a pasted text as the code. zsh has no `read -p`.
  const read = "printf 'Paste the code: '; read -r CODE"
  const exchange = [
    `curl -s ${baseUrl}/api/oauth/token \\`,
    '  -d grant_type=authorization_code \\',
    `  -d client_id=${clientId} \\`,
    ...(isPublic ? [] : [`  -d client_secret=${clientSecret} \\`]),
    `  --data-urlencode ${quoted(`redirect_uri=${redirectUri}`)} \\`,
    '  -d code_verifier="$VERIFIER" \\',
    '  --data-urlencode code="$CODE"',
  ]
  return {
    steps: [
      { kind: 'terminal', label: 'Terminal', code: start },
      { kind: 'browser' },
      { kind: 'terminal', label: 'Terminal', code: read },
      { kind: 'terminal', label: 'Terminal', code: exchange.join('\n') },
    ],
    redirectUri,
    postLogoutRedirectUri: undefined,
    startUrl: undefined,
    guide: 'connect-an-app',
  }
}

function scopeOf({ allowedScopes }: Pick<App, 'allowedScopes'>): string {
  return allowedScopes.filter((each) => each === 'openid' || each === 'profile').join(' ')
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
