type Answer = { value: unknown }
type Cookie = { name: string; value: string; httpOnly: boolean }

const commandMilliseconds = 60_000

/** Opens a session of a browser through a driver (WebDriver, https://www.w3.org/TR/webdriver2/). */
export async function openSession(driverUrl: string, capabilities: object) {
  const created = await command(driverUrl, 'POST', '/session', { capabilities: { alwaysMatch: capabilities } })
  const path = `/session/${sessionIdIn(created)}`
  const post = (name: string, body: object) => command(driverUrl, 'POST', `${path}/${name}`, body)
  return {
    open: (url: string) => post('url', { url }),
    setTimeouts: (timeouts: { script: number; pageLoad: number }) => post('timeouts', timeouts),
    /** Runs a script in the page; returns its result. */
    execute: (script: string, args: string[]) => post('execute/sync', { script, args }),
    addCookie: (cookie: Cookie) => post('cookie', { cookie }),
    close: () => command(driverUrl, 'DELETE', path),
  }
}

async function command(driverUrl: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(driverUrl + path, {
    method,
    signal: AbortSignal.timeout(commandMilliseconds),
    ...(body && { body: JSON.stringify(body) }),
  })
  const { value }: Answer = JSON.parse(await response.text())
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`)
  return value
}

function sessionIdIn(created: unknown): string {
  if (typeof created !== 'object' || created === null || !('sessionId' in created))
    throw new Error('the driver opened no session')
  return String(created.sessionId)
}
