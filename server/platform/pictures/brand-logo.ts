import type { Config } from '#platform/config/config.ts'
import { ApiError } from '#platform/api-error.ts'
import { ConfigError } from '#platform/config-error.ts'
import { renderBytes } from './picture.ts'
import type { RenderedPicture, Workshop } from './workshop.ts'

/** Logo of the operator in a file, which is in no table: each process renders it. */
export type BrandLogo = { pictureId: string; rendered: RenderedPicture }

/** Renders the logo of the operator, if it is a file. Throws `ConfigError` if its file cannot be decoded. */
export async function renderBrandLogo(
  { brand: { logo } }: Pick<Config, 'brand'>,
  workshop: Workshop,
): Promise<BrandLogo | undefined> {
  if (!logo?.bytes) return undefined
  try {
    return { pictureId: logo.pictureId, rendered: await renderBytes(workshop, 'operator', 'contain', logo.bytes) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ConfigError(`BRAND_LOGO cannot be used. ${error.message}`)
  }
}
