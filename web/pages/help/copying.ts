const shownMilliseconds = 2000

/** Shows the buttons that copy a block of code. Browsers without a clipboard keep none. */
export function enableCopying(page: Document): void {
  if (!('clipboard' in navigator)) return
  for (const button of page.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    button.hidden = false
    button.addEventListener('click', () => void copy(button))
  }
}

async function copy(button: HTMLButtonElement): Promise<void> {
  const code = button.closest('.code')?.querySelector('pre')?.textContent ?? ''
  await navigator.clipboard.writeText(code)
  button.classList.add('copied')
  button.setAttribute('aria-label', 'Copied')
  setTimeout(() => {
    button.classList.remove('copied')
    button.setAttribute('aria-label', 'Copy')
  }, shownMilliseconds)
}
