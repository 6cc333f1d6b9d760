import { findPassages, split, wordsOf, type Hit, type SearchIndex } from './search.ts'

/** Makes the search of the page usable: by keyboard first. The index is loaded when the field is first used. */
export function enableSearch(page: Document): void {
  const finder = page.querySelector<HTMLElement>('.finder')
  const input = finder?.querySelector('input')
  const list = finder?.querySelector('ul')
  const panel = finder?.querySelector<HTMLElement>('.found')
  const status = finder?.querySelector('.found-status')
  if (!finder || !input || !list || !panel || !status) return
  finder.inert = false

  let loading: Promise<SearchIndex> | undefined
  let selected = -1
  const load = () => (loading ??= fetchIndex(finder.dataset['index'] ?? ''))

  const show = (isShown: boolean) => {
    panel.hidden = !isShown
    input.setAttribute('aria-expanded', String(isShown))
  }
  const select = (next: number) => {
    const options = [...list.querySelectorAll<HTMLElement>('[role=option]')]
    selected = options.length === 0 ? -1 : (next + options.length) % options.length
    for (const [nth, option] of options.entries()) option.setAttribute('aria-selected', String(nth === selected))
    const option = options[selected]
    if (option) input.setAttribute('aria-activedescendant', option.id)
    else input.removeAttribute('aria-activedescendant')
    option?.scrollIntoView({ block: 'nearest' })
  }
  const search = async () => {
    const query = input.value
    const words = wordsOf(query)
    if (words.length === 0) return show(false)
    try {
      const index = await load()
      // The user may have typed more meanwhile.
      if (query !== input.value) return
      const hits = findPassages(index, query)
      list.replaceChildren(...hits.map((hit, nth) => optionOf(page, hit, words, nth)))
      status.textContent = hits.length === 0 ? `Nothing found for “${query.trim()}”` : ''
      status.classList.toggle('vh', hits.length > 0)
      if (hits.length > 0) status.textContent = hits.length === 1 ? '1 result' : `${hits.length} results`
    } catch {
      loading = undefined
      list.replaceChildren()
      status.classList.remove('vh')
      status.textContent = 'The search could not be loaded. Check your connection and try again.'
    }
    select(list.childElementCount > 0 ? 0 : -1)
    show(true)
  }

  input.addEventListener('focus', () => void load().catch(() => (loading = undefined)), { once: true })
  input.addEventListener('input', () => void search())
  input.addEventListener('focus', () => void search())
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      select(selected + (event.key === 'ArrowDown' ? 1 : -1))
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      list.querySelector<HTMLAnchorElement>('[aria-selected=true] a')?.click()
    }
    if (event.key === 'Escape') {
      if (panel.hidden) input.blur()
      show(false)
    }
  })
  finder.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !finder.contains(relatedTarget)) show(false)
  })
  // A click on a result of this page leads to a place of it.
  list.addEventListener('click', () => show(false))
  page.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}

async function fetchIndex(url: string): Promise<SearchIndex> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`The search index answered ${answer.status}`)
  return (await answer.json()) as SearchIndex
}

function optionOf(page: Document, { url, page: title, heading, excerpt }: Hit, words: string[], nth: number): HTMLElement {
  const option = page.createElement('li')
  option.id = `found-${nth}`
  option.setAttribute('role', 'option')
  const link = page.createElement('a')
  link.href = url
  link.tabIndex = -1
  const head = page.createElement('strong')
  head.append(...marked(page, split(heading, words)))
  const where = page.createElement('small')
  where.textContent = title === heading ? '' : title
  const text = page.createElement('span')
  text.append(...marked(page, excerpt))
  link.append(head, where, text)
  option.append(link)
  return option
}

/** Parts at odd places are matches. */
function marked(page: Document, parts: string[]): (string | HTMLElement)[] {
  return parts.map((part, nth) => {
    if (nth % 2 === 0) return part
    const mark = page.createElement('mark')
    mark.textContent = part
    return mark
  })
}
