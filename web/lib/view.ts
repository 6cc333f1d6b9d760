import type { PageName, PageView, Site } from '@countersign/protocol/pages'

/** The view of a page: the member of the union that admits its name. */
type ViewOf<Name extends PageName, View = PageView> = View extends { page: PageName }
  ? Name extends View['page']
    ? View
    : never
  : never

/** What the server wrote into this page. Throws where a page was served another page's view: a fault of ours. */
export function readView<Name extends PageName>(page: Name): ViewOf<Name> {
  const view = anyView()
  if (!isOf(view, page)) throw new Error(`This is the page ${page}, its view that of ${view.page}`)
  return view
}

export function readSite(): Site {
  return anyView().site
}

/** Where our pages begin. The host of the API has none but for what went wrong there. */
export function startAddress(): string {
  const { baseUrl, authUrl } = readSite()
  return location.origin === baseUrl ? `${authUrl}/` : '/'
}

/** The languages that the app asked for, which sent the person here. */
export function wantedLanguages(): string[] {
  const view = anyView()
  return 'languages' in view ? view.languages : []
}

let read: PageView | undefined

function anyView(): PageView {
  return (read ??= JSON.parse(document.getElementById('view')?.textContent ?? '') as PageView)
}

function isOf<Name extends PageName>(view: PageView, page: Name): view is PageView & ViewOf<Name> {
  return view.page === page
}
