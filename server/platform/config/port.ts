import type { Config } from './config.ts'

/** Returns the port of a host: `PORT`, or the port of its URL. */
export function portOf({ port }: Pick<Config, 'port'>, url: URL): number {
  return port ?? (url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port))
}
