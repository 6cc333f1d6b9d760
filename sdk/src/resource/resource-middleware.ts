import { Challenge } from './challenge.ts'
import type { DelegatedToken } from './delegated-token.ts'
import type { ResourceMetadata } from './metadata.ts'

/** Verifies what stands in an `Authorization` header. Throws a challenge, or `cannot_verify`. */
export type Guard = (authorization: string | undefined, wanted: Wanted) => Promise<DelegatedToken>

export type Wanted = {
  /** The scopes that a token has to have, with spaces between them. */
  scope?: string | undefined
}

/** What is needed of the requests and answers of `node:http`, and of those of Express, Connect and others on top. */
type Request = {
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string
  headers: { authorization?: string | undefined }
  delegated?: DelegatedToken
}
type Response = {
  writeHead: (status: number, headers: Record<string, string>) => { end: (body: string) => unknown }
}
type Next = (error?: unknown) => void

export type ResourceMiddleware<Answer> = (request: Request, response: Response, next: Next) => Answer

export const json = { 'content-type': 'application/json' }

/** For anybody to read, from pages too: it has no secret, and needs no cookie. */
export const metadataHeaders = { ...json, 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' }

/** Lets those through who bring a token, with `request.delegated`; answers the others. */
export function guardingMiddleware(guard: Guard, wanted: Wanted): ResourceMiddleware<Promise<void>> {
  return async (request, response, next) => {
    try {
      request.delegated = await guard(request.headers.authorization, wanted)
    } catch (error) {
      if (!(error instanceof Challenge)) return next(error)
      const { status, headers, body } = error
      response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(body))
      return
    }
    next()
  }
}

/** Answers what the resource says about itself, and nothing else. */
export function metadataMiddleware({ path, document }: ResourceMetadata): ResourceMiddleware<void> {
  const body = JSON.stringify(document)
  return ({ method, url, originalUrl = url }, response, next) => {
    const isAsked = originalUrl === path && (method === 'GET' || method === 'HEAD')
    if (!isAsked) return next()
    response.writeHead(200, metadataHeaders).end(method === 'HEAD' ? '' : body)
  }
}
