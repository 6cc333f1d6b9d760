import { escapeHtml, iconOf, join } from './html.ts'

/** What the server writes into each page when it sends it. */
export const slots = {
  brand: '%%BRAND%%',
  /** Markup of the operator in the head: its stylesheet, if it has one. */
  head: '%%HEAD%%',
  logo: '%%LOGO%%',
  api: '%%BASE_URL%%',
  auth: '%%AUTH_URL%%',
  business: '%%BUSINESS_URL%%',
} as const

/** What the server writes into the frame of the API reference. */
export const referenceSlots = { title: '%%TITLE%%', rail: '%%RAIL%%', main: '%%MAIN%%' } as const

export type Assets = { script: string; imports: string[]; styles: string[]; fonts: string[] }

export type Frame = {
  title: string
  description?: string
  area: 'help' | 'reference'
  /** URL of the search index. */
  index: string
  rail: string
  main: string
}

const mark =
  '<svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><path class="mark-line" ' +
  'd="M3 27.5H29"/><path class="mark-letter" ' +
  'd="M22.5 9.5C21.5 5.500 16 4 12 8 7.500 12.500 8 22 14.500 22.500 20 23 24 17.500 28.500 16"/></svg>'

/** Returns a whole page. It needs no script, except for the search and the buttons that copy. */
export function pageOf({ title, description, area, index, rail, main }: Frame, assets: Assets): string {
  const current = (is: boolean) => (is ? ' aria-current="true"' : '')
  return join(
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">',
    '<meta name="color-scheme" content="light dark">',
    description !== undefined && `<meta name="description" content="${escapeHtml(description)}">`,
    `<title>${title} · ${slots.brand}</title>`,
    '<link rel="icon" type="image/svg+xml" href="/assets/icon.svg">',
    ...assets.fonts.map((href) => `<link rel="preload" href="${href}" as="font" type="font/woff2" crossorigin>`),
    ...assets.styles.map((href) => `<link rel="stylesheet" href="${href}">`),
    ...assets.imports.map((href) => `<link rel="modulepreload" href="${href}">`),
    `<script type="module" src="${assets.script}"></script>`,
    `${slots.head}</head>`,
    '<body class="app">',
    '<a class="skip" href="#main">Skip to content</a>',
    '<header class="letterhead"><div class="inner">',
    `<a class="wordmark" href="${slots.auth}/">${slots.logo}${slots.brand}</a>`,
    '<nav class="areas" aria-label="Areas">',
    `<a href="${slots.auth}/help"${current(area === 'help')}>Help</a>`,
    `<a href="${slots.api}/docs"${current(area === 'reference')}>API reference</a>`,
    `<a href="${slots.auth}/account">Account</a>`,
    '</nav>',
    `<div class="end">${searchOf(area, index)}</div>`,
    '</div></header>',
    '<div class="shell documents">',
    `<nav class="rail" aria-label="Pages">${rail}</nav>`,
    `<main id="main" class="page" tabindex="-1">${main}</main>`,
    '</div>',
    '<footer class="foot"><div class="inner">',
    `<a href="${slots.auth}/help">Help</a>`,
    `<a href="${slots.api}/docs">API reference</a>`,
    `<a href="${slots.auth}/account">Account</a>`,
    '</div></footer>',
    '</body>',
    '</html>',
    '',
  )
}

/** The mark of the product, where the operator has no logo. */
export const ownMark = mark

/** The script of the page makes it usable; without one, its room stays empty. */
function searchOf(area: Frame['area'], index: string): string {
  const label = area === 'help' ? 'Search help' : 'Search the API reference'
  return join(
    `<search class="finder" data-index="${index}" inert>`,
    iconOf('search', 'sm'),
    `<input class="input" type="search" role="combobox" aria-expanded="false" aria-controls="found"`,
    ` aria-autocomplete="list" aria-keyshortcuts="/" aria-label="${label}" placeholder="Search" autocomplete="off"`,
    ` spellcheck="false" enterkeyhint="search">`,
    '<kbd aria-hidden="true">/</kbd>',
    `<div class="found" hidden><p class="found-status" role="status"></p>`,
    `<ul id="found" role="listbox" aria-label="Results"></ul></div>`,
    '</search>',
  )
}
