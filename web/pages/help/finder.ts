import { findPassages, split, wordsOf, type Hit, type SearchIndex } from './search.ts'

type Parts = { finder: HTMLElement; input: HTMLInputElement; list: HTMLElement; panel: HTMLElement; status: Element }

/** Makes the search of the page usable: by keyboard first. The index is loaded when the field is first used. */
export function enableSearch(page: Document): void {
  const finder = page.querySelector<HTMLElement>('.finder')
  const input = finder?.querySelector('input')
  const list = finder?.querySelector('ul')
  const panel = finder?.querySelector<HTMLElement>('.found')
  const status = finder?.querySelector('.found-status')
  if (!finder || !input || !list || !panel || !status) return
  finder.inert = false
  const results = createResults({ finder, input, list, panel, status })
  const search = createSearch({ finder, input, list, panel, status }, results)

  input.addEventListener('input', search)
  input.addEventListener('focus', search)
  input.addEventListener('keydown', (event) => {
    const { key } = event
    if (['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) event.preventDefault()
    if (key === 'ArrowDown') results.move(1)
    if (key === 'ArrowUp') results.move(-1)
    if (key === 'Enter') list.querySelector<HTMLAnchorElement>('[aria-selected=true] a')?.click()
    if (key !== 'Escape') return
    if (panel.hidden) input.blur()
    results.show(false)
  })
  finder.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !finder.contains(relatedTarget)) results.show(false)
  })
  // A result may lead to a place of this page.
  list.addEventListener('click', () => results.show(false))
  page.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
    input.select()
  })
}

type Results = ReturnType<typeof createResults>

/** The list of results, of which the input names the selected one to screen readers. */
function createResults({ input, list, panel, status }: Parts) {
  let selected = -1
  const move = (by: number) => {
    const options = [...list.querySelectorAll<HTMLElement>('[role=option]')]
    selected = options.length === 0 ? -1 : (selected + by + options.length) % options.length
    for (const [nth, option] of options.entries()) option.setAttribute('aria-selected', String(nth === selected))
    const option = options[selected]
    if (option) input.setAttribute('aria-activedescendant', option.id)
    else input.removeAttribute('aria-activedescendant')
    option?.scrollIntoView({ block: 'nearest' })
  }
  const show = (isShown: boolean) => {
    panel.hidden = !isShown
    input.setAttribute('aria-expanded', String(isShown))
  }
  return {
    move,
    show,
    /** Replaces the results, and says how many there are, or that there are none. */
    put(options: HTMLElement[], message: string) {
      list.replaceChildren(...options)
      status.textContent = message
      status.classList.toggle('vh', options.length > 0)
      selected = -1
      move(1)
      show(true)
    },
  }
}

/** Returns the function that searches for what is in the field. */
function createSearch({ finder, input }: Parts, results: Results): () => void {
  let loading: Promise<SearchIndex> | undefined
  const load = () => (loading ??= fetchIndex(finder.dataset['index'] ?? ''))
  const search = async () => {
    const query = input.value
    const words = wordsOf(query)
    const index = await load()
    // The user may have typed more meanwhile.
    if (query !== input.value) return
    if (words.length === 0) return results.show(false)
    const hits = findPassages(index, query)
    const options = hits.map((hit, nth) => optionOf(input.ownerDocument, hit, words, nth))
    const found = hits.length === 1 ? '1 result' : `${hits.length} results`
    results.put(options, hits.length === 0 ? `Nothing found for “${query.trim()}”` : found)
  }
  return () => {
    search().catch(() => {
      loading = undefined
      results.put([], 'The search could not be loaded. Check your connection and try again.')
    })
  }
}

async function fetchIndex(url: string): Promise<SearchIndex> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`The search index answered ${answer.status}`)
  return (await answer.json()) as SearchIndex
}

function optionOf(
  page: Document,
  { url, page: title, heading, excerpt }: Hit,
  words: string[],
  nth: number,
): HTMLElement {
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
