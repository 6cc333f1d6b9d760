import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { openExample } from '../../fixtures/guide.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

const root = join(import.meta.dirname, '../../..')
const runFile = promisify(execFile)

let stage: TestEnvironment
let calendar: Awaited<ReturnType<typeof openExample>>
let assistant: Awaited<ReturnType<typeof openExample>>
before(async () => {
  await runFile(process.execPath, [join(root, 'sdk/build.ts')])
  stage = await openStage()
  calendar = await openExample(stage.service, 'calendar')
  await offerCalendar()
  assistant = await openExample(stage.service, 'assistant', { CALENDAR_URL: calendar.origin })
})
after(async () => {
  await assistant?.close()
  await calendar?.close()
  await stage.close()
})

/** Offers the API of the calendar to other apps, with the command in its README. */
async function offerCalendar() {
  const readme = await readFile(join(root, 'examples/calendar/README.md'), 'utf8')
  const [command] = /^npx --no-install countersign resources create [\s\S]*?[^\\]$/m.exec(readme) ?? []
  if (command === undefined) throw new Error('The guide does not show how the calendar is offered')
  const here = command
    .replace('npx --no-install countersign', '"$NODE" "$CLI"')
    .replace('http://localhost:3001', calendar.origin)
  const tools = { NODE: process.execPath, CLI: join(root, 'cli/main.ts'), CLIENT_ID: calendar.clientId }
  await runFile('bash', ['-c', here], { env: { ...stage.service.settings, ...tools } })
}

const today = ({ page }: Person) => page.getByRole('listitem').allInnerTexts()
const link = ({ page }: Person, name: string) => page.getByRole('link', { name })
const button = ({ page }: Person, name: string) => page.getByRole('button', { name })
const isHome = ({ page }: Person) => page.waitForURL((url) => url.href.startsWith(`${assistant.origin}/`))

/** A user who is signed in to the assistant, which has no delegation yet. */
async function enroll(handle: string, displayName: string) {
  const person = await stage.enroll({ handle, displayName })
  person.offerPasskeys(false)
  await person.page.goto(assistant.origin)
  await link(person, 'Sign in with Countersign').click()
  await person.press('approve')
  await isHome(person)
  return person
}

/** Lets the assistant read the calendar, and returns to the day that it shows. */
async function connect(person: Person, when: string) {
  await link(person, when).click()
  await person.press('approve')
  await isHome(person)
  await person.page.getByRole('heading', { name: 'Today' }).waitFor()
  assert.deepEqual(await today(person), ['09:30 Stand-up', '12:00 Lunch with Bob', '16:15 Dentist'])
}

/** Starts the morning job without a user; returns what the assistant reports. */
async function wake(person: Person): Promise<string> {
  await button(person, 'Let it be morning').click()
  return person.page.getByText('Prepared: ').innerText()
}

async function signOut(person: Person) {
  await button(person, 'Sign out').click()
  await link(person, 'Sign in with Countersign').waitFor()
  // Only the assistant's cookie is left, which belongs to no session any more.
  const cookies = await person.context.cookies()
  assert.deepEqual(cookies.map(({ name }) => name).toSorted(), ['browser'])
}

/** Ends the assistant's delegation in the account. */
async function revoke({ page }: Person) {
  await page.goto(`${stage.service.authUrl}/account/apps`)
  await page.locator('.delegations [data-action="revoke"]').click()
  await page.locator('dialog [data-action="revoke"]').click()
  await page.locator('.ended-delegations').waitFor()
}

test('the calendar tells an app without a token where to get one', async () => {
  const refused = await fetch(`${calendar.origin}/api/events`)
  assert.equal(refused.status, 401)
  const [, address = ''] = /resource_metadata="(.+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
  assert.partialDeepStrictEqual(await (await fetch(address)).json(), {
    resource: `${calendar.origin}/api`,
    authorization_servers: [stage.service.authUrl],
    scopes_supported: ['calendar.read'],
  })
})

test('the assistant reads the calendar of a user who permits it, until they end it', async () => {
  const ada = await enroll('ada', 'Ada Lovelace')
  await link(ada, 'While I’m here').click()
  await ada.press('deny')
  await isHome(ada)
  assert.deepEqual(await today(ada), [])
  await connect(ada, 'While I’m here')
  await ada.page.goto(`${assistant.origin}/sign-in-again`)
  await ada.press('sign-in')
  await isHome(ada)
  assert.equal((await today(ada)).length, 3)

  await revoke(ada)
  await ada.page.goto(assistant.origin)
  await link(ada, 'While I’m here').waitFor()
  assert.deepEqual(await today(ada), [])
  await connect(ada, 'While I’m here')

  await signOut(ada)
  assert.equal(await wake(ada), 'Prepared: 0. Refused: 0.')
  await ada.leave()
})

test('it prepares the day of a user while they are away, until they end it', async () => {
  const bob = await enroll('bob', 'Bob Noyce')
  await connect(bob, 'Also while I’m away')
  await signOut(bob)
  assert.equal(await wake(bob), 'Prepared: 1. Refused: 0.')

  await link(bob, 'Sign in with Countersign').click()
  await bob.press('sign-in')
  await isHome(bob)
  await bob.page.getByText('I prepared your day while you were away.').waitFor()
  await signOut(bob)

  await bob.page.goto(`${stage.service.authUrl}/login`)
  await bob.press('sign-in')
  await bob.page.waitForURL(/\/account/)
  await revoke(bob)
  await bob.page.goto(assistant.origin)
  assert.equal(await wake(bob), 'Prepared: 0. Refused: 1.')
  await bob.leave()
})
