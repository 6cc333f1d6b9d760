import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePorts } from '../../server/testing/service.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { callOf, describePage, findFaults } from './in-page.ts'
import { openSession } from './webdriver.ts'

export type WebKit = Awaited<ReturnType<typeof launchWebKit>>

const startMilliseconds = 30_000
const pollMilliseconds = 50
const waitMilliseconds = 30_000

/** Starts the browser of WebKitGTK on a virtual display. It records the faults of its pages. */
export async function launchWebKit() {
  const home = await mkdtemp(join(tmpdir(), 'countersign-webkit-'))
  const [display, proxy, [port]] = await Promise.all([startDisplay(), startFaultProxy(), freePorts(1)])
  const driver = startGroup(process.env['WEBKIT_DRIVER'] ?? 'WebKitWebDriver', [`--port=${port}`], {
    ...{ PATH: process.env['PATH'], HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: display.name },
    // There is no graphics card, and no assistive technology.
    ...{ LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' },
  })
  const driverUrl = `http://127.0.0.1:${port}`
  await driverReady(driverUrl)
  const manual = { proxyType: 'manual', httpProxy: proxy.address }
  const session = await openSession(driverUrl, { proxy: manual, pageLoadStrategy: 'normal' })
  await session.setTimeouts({ script: waitMilliseconds, pageLoad: waitMilliseconds })

  /** Waits until the function finds a list in the page or in one that follows. */
  async function until<Given extends string[]>(
    find: (...given: Given) => string[] | undefined,
    ...given: Given
  ): Promise<string[]> {
    const giveUpAt = Date.now() + waitMilliseconds
    for (;;) {
      const found = await session.execute(callOf(find), given)
      if (Array.isArray(found)) return found.map(String)
      if (Date.now() > giveUpAt) {
        const page = await session.execute(callOf(describePage), [])
        throw new Error(`waited in vain for ${find.name}(${given.join(', ')}): ${page}`)
      }
      // A script that waits in the page would be lost with the page, without an error of the driver.
      await setTimeout(pollMilliseconds)
    }
  }

  return {
    ...session,
    until,
    /** Opens a page, and waits until it has such a heading and is at rest; returns its faults. */
    async visit(url: string, heading: string): Promise<string[]> {
      await session.open(url)
      return until(findFaults, heading)
    },
    async close() {
      await session.close()
      await driver.end()
      await display.end()
      await proxy.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** Starts an X server, and waits until it has chosen a free display. */
async function startDisplay() {
  const flags = ['-displayfd', '1', '-screen', '0', '1280x900x24', '-nolisten', 'tcp']
  const { process: server, end } = startGroup(process.env['XVFB'] ?? 'Xvfb', flags)
  if (!server.stdout) throw new Error('the output of the X server is not read')
  const [number] = await once(server.stdout, 'data', { signal: AbortSignal.timeout(startMilliseconds) })
  return { name: `:${String(number).trim()}`, end }
}

/** Starts a program in a group of processes, which ends with this process. */
function startGroup(program: string, flags: string[], env: NodeJS.ProcessEnv = process.env) {
  const started = spawn(program, flags, { detached: true, stdio: ['ignore', 'pipe', 'ignore'], env })
  const ended = once(started, 'close')
  const killGroup = () => killGroupOf(started)
  process.once('exit', killGroup)
  return {
    process: started,
    async end() {
      killGroup()
      await ended
      process.off('exit', killGroup)
    },
  }
}

function killGroupOf({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL')
}

/** Waits until the driver answers. It does not report that it listens. */
async function driverReady(driverUrl: string): Promise<void> {
  const end = Date.now() + startMilliseconds
  for (;;) {
    const answer = await fetch(`${driverUrl}/status`).catch((error: unknown) => {
      if (Date.now() > end) throw error
    })
    if (answer?.ok) return
    await setTimeout(pollMilliseconds)
  }
}
