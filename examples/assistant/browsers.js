import { randomUUID } from 'node:crypto'

/** Knows browsers by a cookie. */
export function createBrowsers(appUrl) {
  const secure = appUrl.startsWith('https:') ? '; Secure' : ''
  return {
    /** A new name: one that somebody planted before is worth nothing afterwards. */
    rename(response) {
      const browser = randomUUID()
      response.setHeader('set-cookie', `browser=${browser}; Path=/; HttpOnly; SameSite=Lax${secure}`)
      return browser
    },
    nameOf: ({ headers }) => /(?:^|; )browser=([^;]+)/.exec(headers.cookie ?? '')?.[1],
  }
}
