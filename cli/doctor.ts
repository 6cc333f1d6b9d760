import { styleText } from 'node:util'
import type { Command } from 'commander'
import { call, reach, readJson } from './call.ts'
import { Failure } from './failure.ts'
import { fieldsOf, listOf } from './json.ts'
import { faultsOfHosts, faultsOfKeySet, faultsOfMetadata } from './provider.ts'
import { settingsOf, type Settings } from './settings.ts'
import { printJson, withoutControls } from './terminal.ts'

/** What a check found: well, or not and what to do about it. */
type Finding = { check: string; healthy: boolean; detail: string; advice?: string }

/** A check: its name, what to do when it fails, and the look that says what is well or throws what is not. */
type Check = { name: string; advice: string; look: (settings: Settings) => Promise<string> }

const clockSkewSecondsMax = 5

const server: Check = {
  name: 'server',
  advice: 'Start it (npm start), or name its address in BASE_URL',
  async look({ baseUrl }) {
    await expectOk(`${baseUrl}/healthz`)
    return `${baseUrl} answers`
  },
}

/** In the order in which one mends them. */
const checks: Check[] = [
  {
    name: 'database',
    advice: "Read the server's log; DATABASE_URL must name a PostgreSQL that it reaches",
    async look({ baseUrl }) {
      await expectOk(`${baseUrl}/readyz`)
      return 'reachable and migrated'
    },
  },
  {
    name: 'clock',
    advice: 'Set the clocks of both machines by NTP: codes and tokens live by them',
    look: readClock,
  },
  {
    name: 'hosts',
    advice:
      'Give BASE_URL and AUTH_URL https: and names under one domain, such as api.example.com and auth.example.com',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      refuseFaults(faultsOfHosts(authUrl, settings.baseUrl))
      return `${authUrl} and ${settings.baseUrl} are of one site`
    },
  },
  {
    name: 'discovery',
    advice: 'BASE_URL and AUTH_URL of the server must be what browsers call it; a proxy must pass the Host header on',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      refuseFaults(faultsOfMetadata(await readMetadata(authUrl), { authUrl, baseUrl: settings.baseUrl }))
      return `${authUrl} is the issuer`
    },
  },
  {
    name: 'signing keys',
    advice: 'A proxy or a cache may answer in place of the server; else report this',
    async look(settings) {
      const authUrl = await findIssuer(settings)
      const metadata = await readMetadata(authUrl)
      const keySet = await readJson(await expectOk(`${authUrl}/.well-known/jwks.json`))
      refuseFaults(faultsOfKeySet(keySet, metadata))
      return `${listOf(fieldsOf(keySet).keys).length} keys, none is missing`
    },
  },
  {
    name: 'admin token',
    advice: "Set ADMIN_TOKEN, or let --data-dir name the server's data folder",
    async look(settings) {
      await call(settings, 'GET /api/admin/apps', { querystring: { limit: '1' } })
      return 'accepted'
    },
  },
]

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('examine a server, and say what to do about what is wrong')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const findings = await examine(settings)
      const healthy = findings.every((finding) => finding.healthy)
      if (settings.json) printJson({ healthy, findings })
      else for (const finding of findings) print(finding)
      if (!healthy) process.exitCode = 1
    })
}

/** Looks at everything; at nothing but the server where there is none. */
async function examine(settings: Settings): Promise<Finding[]> {
  const findings = [await perform(server, settings)]
  if (!findings[0]?.healthy) return findings
  for (const check of checks) findings.push(await perform(check, settings))
  return findings
}

async function perform({ name, advice, look }: Check, settings: Settings): Promise<Finding> {
  try {
    return { check: name, healthy: true, detail: await look(settings) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { check: name, healthy: false, detail: error.message, advice }
  }
}

function print({ check, healthy, detail, advice }: Finding): void {
  const mark = healthy ? styleText('green', '✔') : styleText('red', '✖')
  console.log(`${mark} ${check.padEnd(12)}  ${withoutControls(detail)}`)
  if (advice) console.log(`                ${advice}.`)
}

async function readClock({ baseUrl }: Settings): Promise<string> {
  const response = await expectOk(`${baseUrl}/healthz`)
  const serverTime = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(serverTime)) throw new Failure('The server sends no Date header')
  const skewSeconds = Math.abs(Date.now() - serverTime) / 1000
  if (skewSeconds > clockSkewSecondsMax)
    throw new Failure(`The clocks here and there differ by ${Math.round(skewSeconds)} s`)
  return `at most ${clockSkewSecondsMax} s apart`
}

/** The issuer: as the settings name it, or where the API host sends those who ask it for the discovery document. */
async function findIssuer({ baseUrl, authUrl }: Settings): Promise<string> {
  if (authUrl) return authUrl
  const url = `${baseUrl}/.well-known/openid-configuration`
  const location = (await reach(url)).headers.get('location') ?? ''
  if (!URL.canParse(location)) throw new Failure(`${url} does not lead to the issuer: name it in AUTH_URL`)
  return new URL(location).origin
}

async function readMetadata(authUrl: string): Promise<unknown> {
  return readJson(await expectOk(`${authUrl}/.well-known/openid-configuration`))
}

async function expectOk(url: string): Promise<Response> {
  const response = await reach(url)
  if (!response.ok) throw new Failure(`${url} answered ${response.status}`)
  return response
}

function refuseFaults(faults: string[]): void {
  if (faults.length > 0) throw new Failure(faults.join('; '))
}
