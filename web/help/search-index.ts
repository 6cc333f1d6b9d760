import type { Passage } from './markdown.ts'

/** What the search of a page reads: the pages by URL and title, and passages as page, anchor, heading and text. */
export type SearchIndex = { pages: [url: string, title: string][]; passages: [number, string, string, string][] }

/** Builds the index of pages in their order. */
export function searchIndexOf(pages: { url: string; title: string; passages: Passage[] }[]): SearchIndex {
  return {
    pages: pages.map(({ url, title }) => [url, title]),
    passages: pages.flatMap(({ passages }, page) =>
      passages.map(({ id, heading, text }): [number, string, string, string] => [page, id, heading, text]),
    ),
  }
}
