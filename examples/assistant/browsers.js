import { randomUUID } from 'node:crypto'

/** Knows browsers by a cookie. */
export function createBrowsers(appUrl) {
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  return {
    /** Gives the browser a new session ID: one that an attacker planted before is useless afterwards. */
    rename(response) {
      const browser = randomUUID()
      response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
      return browser
    },
    nameOf: ({ headers }) => /(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1],
  }
}
