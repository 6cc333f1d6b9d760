import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { type Config, ConfigError } from '#platform/config/config.ts'

const folder = new URL('../../../web/dist/help/', import.meta.url)

const PageList = Type.Array(Type.Object({ url: Type.String(), file: Type.String() }))

/** The help pages and the frame of the API reference, as `web/help` builds them. */
export type BuiltPages = {
  /** Help pages by URL. */
  pages: readonly { url: string; read: () => Promise<string> }[]
  /** Returns a page of the API reference. Its parts are HTML. */
  reference: (parts: ReferenceParts) => string
}

export type ReferenceParts = { title: string; rail: string; main: string }

type Settings = Pick<Config, 'baseUrl' | 'authUrl' | 'businessUrl' | 'brand'>

/** Loads the list of pages and the frame. Throws `ConfigError` if they are not built. */
export async function loadBuiltPages(config: Settings): Promise<BuiltPages> {
  const [list, frame, mark] = await Promise.all(['pages.json', 'reference.html', 'mark.svg'].map(readBuilt))
  const fill = fillerFor(config, mark ?? '')
  const empty = fill(frame ?? '')
  return {
    pages: Value.Parse(PageList, JSON.parse(list ?? '')).map(({ url, file }) => ({
      url,
      read: async () => fill(await readBuilt(file)),
    })),
    reference: ({ title, rail, main }) => replaceAll(empty, { TITLE: title, RAIL: rail, MAIN: main }),
  }
}

/** Returns the function that writes the settings of this service into a page. Origins need no escaping. */
function fillerFor({ baseUrl, authUrl, businessUrl, brand }: Settings, mark: string): (page: string) => string {
  const values = {
    BRAND: escapeHtml(brand.name),
    HEAD: '',
    LOGO: mark,
    BASE_URL: baseUrl.origin,
    AUTH_URL: authUrl.origin,
    BUSINESS_URL: businessUrl.origin,
  }
  return (page) => replaceAll(page, values)
}

function replaceAll(page: string, values: Record<string, string>): string {
  return page.replaceAll(/%%([A-Z_]+)%%/g, (slot, name: string) => values[name] ?? slot)
}

/** Escapes text for the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

async function readBuilt(file: string): Promise<string> {
  try {
    return await readFile(new URL(file, folder), 'utf8')
  } catch {
    throw new ConfigError('Pages are not built. Run npm ci or node web/build.ts.')
  }
}
