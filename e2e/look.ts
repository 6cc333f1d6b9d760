import axe from 'axe-core'
import type { ConsoleMessage, Page } from 'playwright-core'
import type { Person } from './person.ts'
import type { Appearance } from './windows.ts'

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** What a page notes of itself while it is open, from before its first script runs. */
type Notes = { takeShifts: () => string[]; takeViolations: () => string[] }

/** Layout Instability §3.1, which TypeScript's DOM library doesn't have. */
type LayoutShift = PerformanceEntry & { value: number; lastInputTime: number; sources: { node: Node | null }[] }

type Watched = { language: string; shown?: Appearance; also?: Appearance }

/**
 * Looks over the shoulder of a person, page after page, and keeps what no page should do to anybody. What is `shown`
 * one way is looked at the other way `also`.
 */
export async function watch(person: Person, { language, shown, also }: Watched) {
  const { page } = person
  const faults: string[] = []
  let place = 'before the first page'
  const note = (fault: string) => void faults.push(`${place}: ${fault}`)
  person.page.on('console', (message) => isOurs(message, person) && note(message.text()))
  person.page.on('pageerror', (error) => note(String(error)))
  await person.context.addInitScript(takeNotes)

  async function examine(page: Page): Promise<void> {
    await page.waitForFunction(isAtRest)
    const { shifts, violations, overflow, lang } = await page.evaluate(readNotes)
    for (const shift of shifts) note(`moved while it was read: ${shift}`)
    for (const violation of violations) note(`broke its policy: ${violation}`)
    if (overflow > 0) note(`is ${overflow} pixels wider than its window`)
    if (lang !== language) note(`says that its language is ${lang}`)
    if (process.env['SCREENSHOTS']) await page.screenshot({ path: pathOf(place), fullPage: true })
    for (const barrier of await findBarriers(page)) note(barrier)
  }
  return {
    faults,
    /** Looks at the page, or at another window that it has opened. */
    async look(name: string, window = page): Promise<void> {
      place = shown ? `${name}-${shown.width}-${shown.colorScheme}` : name
      if (shown && window !== page) await turn(window, shown)
      await examine(window)
      if (!shown || !also) return
      place = `${name}-${also.width}-${also.colorScheme}`
      await turn(window, also)
      await examine(window)
      await turn(window, shown)
    },
  }
}

/** What keeps people out of a page. To tell what is right with it, too, would take axe most of its time. */
async function findBarriers(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(async (runOnly) => {
    const loaded = Reflect.get(globalThis, 'axe') as typeof axe
    const { violations } = await loaded.run({ runOnly, resultTypes: ['violations'], selectors: false })
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' ')}`,
    )
  }, standards)
}

async function turn(page: Page, { colorScheme, width }: Appearance): Promise<void> {
  await page.emulateMedia({ colorScheme })
  await page.setViewportSize({ width, height: page.viewportSize()?.height ?? 740 })
  // What takes its new colour slowly has begun to only when it is drawn.
  await page.evaluate(untilDrawn)
}

function pathOf(name: string): string {
  return `${process.env['SCREENSHOTS']}/${name}.png`
}

/** The id of a request to sign that nobody has made. */
export const noRequest = '00000000-0000-4000-8000-000000000000'

/**
 * Answers that say no where a no is meant: nobody is signed in, or somebody else, a code is wrong, nothing is to be
 * signed, or agreed to any more, an app has no webhook, an organization no KMS, and an account is not deleted before
 * its apps have been named.
 */
const meant = [
  ...['/api/auth/session', '/api/account', '/api/auth/session/end', '/verify', '/webhook', '/api/oauth/authorize'],
  ...['/api/sso/discover', '/kms'],
  `/api/signing/requests/${noRequest}`,
]
/**
 * By such a no a waiting device learns that it is over, whoever was invited that they are no more, and whoever does
 * something in an organization what there is to sign.
 */
const over = ['/api/account/device-approvals/', '/api/invitations/', '/api/organizations/']

/** Not what the browser says by itself of an answer that is meant: such a no, or that this page is not found. */
function isOurs(message: ConsoleMessage, { page }: Person): boolean {
  if (message.type() !== 'error' && message.type() !== 'warning') return false
  const [url = ''] = message.location().url.split('?')
  const isRefusal = message.text().startsWith('Failed to load resource: the server responded with a status of 4')
  return !(
    isRefusal &&
    (url === page.url().split('?')[0] ||
      over.some((path) => url.includes(path)) ||
      meant.some((path) => url.endsWith(path)))
  )
}

function takeNotes(): void {
  const nameOf = (node: Node | null) => (node instanceof Element ? `${node.tagName}.${node.className}` : node?.nodeName)
  const shifts: string[] = []
  const violations: string[] = []
  const keep = (entries: PerformanceEntry[]) => {
    // What moves after an input is the answer to it.
    const unasked = (entries as LayoutShift[]).filter(({ lastInputTime }) => lastInputTime === 0)
    for (const { value, sources } of unasked) shifts.push(`${value} by ${sources.map(({ node }) => nameOf(node))}`)
  }
  const observer = new PerformanceObserver((list) => keep(list.getEntries()))
  observer.observe({ type: 'layout-shift', buffered: true })
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    violations.push(`${effectiveDirective} ${blockedURI}`)
  })
  const takeShifts = () => {
    keep(observer.takeRecords())
    return shifts.splice(0)
  }
  const takeViolations = () => violations.splice(0)
  Object.assign(globalThis, { notes: { takeShifts, takeViolations } satisfies Notes })
}

function isAtRest(): boolean {
  // What waits behind a question waits for its answer.
  const inFront = document.querySelector('dialog:modal') ?? document.documentElement
  const busy = inFront.querySelector('[aria-busy="true"]') !== null || document.querySelector('h1') === null
  return !busy && inFront.getAnimations({ subtree: true }).every(({ playState }) => playState === 'finished')
}

async function untilDrawn(): Promise<void> {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
}

async function readNotes() {
  const { takeShifts, takeViolations } = Reflect.get(globalThis, 'notes') as Notes
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
  const { scrollWidth, clientWidth, lang } = document.documentElement
  return { shifts: takeShifts(), violations: takeViolations(), overflow: scrollWidth - clientWidth, lang }
}
