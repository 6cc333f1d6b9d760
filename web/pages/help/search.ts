/** As `web/help/search-index.ts` and the server write it: pages, and passages as page, anchor, heading and text. */
export type SearchIndex = { pages: [url: string, title: string][]; passages: [number, string, string, string][] }

/** A passage that matches: where it is, and a piece of its text with the matches as every second part. */
export type Hit = { url: string; page: string; heading: string; excerpt: string[] }

const hitsMax = 12
const hitsPerPageMax = 3
const excerptCharacters = 160
const charactersBefore = 50

/** Finds the passages that contain all words, the best first: words in headings count more than words in text. */
export function findPassages({ pages, passages }: SearchIndex, query: string): Hit[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const phrase = words.join(' ')
  const scored = passages.flatMap(([page, anchor, heading, text]) => {
    const [url = '', title = ''] = pages[page] ?? []
    const score = scoreOf({ title, heading, text }, words, phrase)
    return score === 0 ? [] : [{ page, score, url: anchor === '' ? url : `${url}#${anchor}`, title, heading, text }]
  })
  const perPage = new Map<number, number>()
  return scored
    .toSorted((a, b) => b.score - a.score)
    .filter(({ page }) => {
      const earlier = perPage.get(page) ?? 0
      perPage.set(page, earlier + 1)
      return earlier < hitsPerPageMax
    })
    .slice(0, hitsMax)
    .map(({ url, title, heading, text }) => ({ url, page: title, heading, excerpt: excerptOf(text, words) }))
}

export function wordsOf(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 8)
}

type Passage = { title: string; heading: string; text: string }

/** Returns 0 unless every word occurs. */
function scoreOf(passage: Passage, words: string[], phrase: string): number {
  const [title, heading, text] = [passage.title, passage.heading, passage.text].map((each) => each.toLowerCase()) as [
    string,
    string,
    string,
  ]
  let score = 0
  for (const word of words) {
    const inHeading = occurs(heading, word) * 8
    const inTitle = occurs(title, word) * 4
    const inText = occurs(text, word)
    if (inHeading + inTitle + inText === 0) return 0
    score += inHeading + inTitle + inText
  }
  // Passages about a word come before passages of a page about it.
  return score + (heading.includes(phrase) ? 8 : 0) + (text.includes(phrase) ? 2 : 0) + (heading === phrase ? 16 : 0)
}

/** Returns 2 for a word that begins with this text, 1 for one that contains it, 0 for none. */
function occurs(text: string, word: string): number {
  const found = text.indexOf(word)
  if (found === -1) return 0
  const isStart = (at: number) => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? '')
  return isStart(found) || text.includes(` ${word}`) ? 2 : 1
}

/** Splits the text around the first match: parts at odd places match a word. */
function excerptOf(text: string, words: string[]): string[] {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const start = first <= charactersBefore ? 0 : text.lastIndexOf(' ', first - charactersBefore) + 1
  const end = start + excerptCharacters >= text.length ? text.length : text.lastIndexOf(' ', start + excerptCharacters)
  const piece = `${start > 0 ? '… ' : ''}${text.slice(start, Math.max(end, first))}${end < text.length ? ' …' : ''}`
  return split(piece, words)
}

/** Splits a text at the words: parts at odd places are words. */
export function split(text: string, words: string[]): string[] {
  const parts: string[] = []
  const lower = text.toLowerCase()
  let from = 0
  while (from <= text.length) {
    const next = words
      .map((word) => ({ word, at: lower.indexOf(word, from) }))
      .filter(({ at }) => at !== -1)
      .toSorted((a, b) => a.at - b.at || b.word.length - a.word.length)[0]
    if (!next) break
    parts.push(text.slice(from, next.at), text.slice(next.at, next.at + next.word.length))
    from = next.at + next.word.length
  }
  return [...parts, text.slice(from)]
}
