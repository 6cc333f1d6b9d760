import type { FastifyRequest } from 'fastify'

/** The languages in which we write to people. */
export type Language = 'en' | 'de'

/** The one of ours that `Accept-Language` prefers (RFC 9110 §12.5.4); English where it names none. */
export function languageOf({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  const wanted = (headers['accept-language'] ?? '').split(',').map((range) => {
    const [tag = '', quality = 'q=1'] = range
      .toLowerCase()
      .split(';')
      .map((part) => part.trim())
    return { language: tag.split('-')[0], quality: Number(quality.replace('q=', '')) }
  })
  const known = wanted.filter(({ language, quality }) => (language === 'en' || language === 'de') && quality > 0)
  const [first] = known.toSorted((a, b) => b.quality - a.quality)
  return first?.language === 'de' ? 'de' : 'en'
}
