import { ConfigError } from '#platform/config-error.ts'
import { hasPlainHost } from '#platform/origin.ts'

/** Parses comma-separated receivers, such as `siem.example.com:6514,[fd00::5]:8088`. Throws `ConfigError`. */
export function readReceivers(name: string, text: string | undefined): string[] {
  return text?.split(',').map((each) => readReceiver(name, each.trim())) ?? []
}

function readReceiver(name: string, text: string): string {
  const [, host = '', port = ''] = /^([^\s/?#@]+):([1-9]\d{0,4})$/.exec(text) ?? []
  const url = URL.parse(`https://${host}:${port}`)
  if (host === '' || !url || !hasPlainHost(url))
    throw new ConfigError(`${name} must be hosts with ports, such as siem.example.com:6514, comma-separated, or unset.`)
  return `${url.hostname}:${port}`
}
