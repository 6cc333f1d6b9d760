import type { PageName, PageView, Site } from '@countersign/protocol/pages'

/** The view of a page: the member of the union with its name. */
type ViewOf<Name extends PageName, View = PageView> = View extends { page: PageName }
  ? Name extends View['page']
    ? View
    : never
  : never

/** Reads the view that the server wrote into this page. Throws if it is the view of another page, which is a bug. */
export function readPageData<Name extends PageName>(page: Name): ViewOf<Name> {
  const view = anyView()
  if (!isOf(view, page)) throw new Error(`This is the page ${page}, its view that of ${view.page}`)
  return view
}

export function readSiteSettings(): Site {
  return anyView().site
}

/** Returns the URL of the start page. The API host has no pages except the one for its errors. */
export function homeUrl(): string {
  const { baseUrl, authUrl } = readSiteSettings()
  return location.origin === baseUrl ? `${authUrl}/` : '/'
}

/** Returns the languages (`ui_locales`) that the app requested. */
export function requestedLanguages(): string[] {
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
