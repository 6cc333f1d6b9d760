import { accentOf } from '@countersign/protocol/formats/looks/accent'
import type { SettingValues } from '@countersign/protocol/operations/settings'
import type { BrandSetting } from '#platform/config/brand.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database } from '#platform/database/database.ts'
import { applySettings, readStoredSettings, type StoredSettings } from './setting.ts'

type AccentColor = NonNullable<BrandSetting['accent']>

/** Settings as this process applies them. */
export type CurrentSettings = {
  /** Returns the values that were last read. */
  values: () => SettingValues
  /** Returns what the pages draw with the color that was last read. */
  accent: () => AccentColor | undefined
  /** Reads the settings of the database. */
  refresh: () => Promise<void>
}

type Kernel = { config: Config; db: Database }

/** Reads the settings of the database for the first time. */
export async function openSettings({ config, db }: Kernel): Promise<CurrentSettings> {
  const read = async () => (await readStoredSettings(db)) ?? { revision: 0, stored: {} }
  const valuesOf = ({ stored }: StoredSettings) => {
    const values = applySettings(config, stored)
    return { values, accent: accentOf(values['branding.accent'] ?? '') }
  }
  let current = valuesOf(await read())
  let [begun, applied] = [0, 0]
  return {
    values: () => current.values,
    accent: () => current.accent,
    async refresh() {
      const nth = (begun += 1)
      const found = await read()
      // A slow answer must not replace that of a later read. Revisions do not tell: those of a backup may be lower.
      if (nth < applied) return
      applied = nth
      current = valuesOf(found)
    },
  }
}

/** Returns a configuration whose brand and mode of registration are always the present ones. */
export function withCurrentBrand(config: Config, settings: CurrentSettings): Config {
  return {
    ...config,
    get brand() {
      return brandOf(config.brand, settings)
    },
    get registration() {
      return settings.values()['registration.mode']
    },
  }
}

function brandOf(
  { links, logo: file, accent: _fixed, ...brand }: BrandSetting,
  settings: CurrentSettings,
): BrandSetting {
  const [values, accent] = [settings.values(), settings.accent()]
  const { 'branding.logo': pictureId } = values
  const { 'legal.terms': terms, 'legal.privacy': privacy, 'legal.imprint': imprint, 'legal.support': support } = values
  return {
    ...brand,
    name: values['branding.name'],
    ...(pictureId !== null && { logo: pictureId === file?.pictureId ? file : { pictureId } }),
    ...(accent && { accent }),
    links: {
      ...(terms !== null && { terms }),
      ...(privacy !== null && { privacy }),
      ...(imprint !== null && { imprint }),
      ...(support !== null && { support }),
      ...(links.status !== undefined && { status: links.status }),
    },
  }
}

const refreshMilliseconds = 2000

/** Reads the settings again and again, so that a change by another process applies here soon. */
export function followSettings({ settings, log }: { settings: CurrentSettings; log: FollowerLog }) {
  let running = Promise.resolve()
  const timer = setInterval(() => {
    running = settings.refresh().catch((error: unknown) => log.warn({ error }, 'settings not read'))
  }, refreshMilliseconds)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

type FollowerLog = { warn: (fields: object, message: string) => void }
