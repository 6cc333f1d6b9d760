import type { Leaving } from '@countersign/protocol/pages'

/** Takes an answer to the app. What is posted, the browser sends from a form of this page. */
export function leave({ url, fields }: Leaving): void {
  if (!fields) return location.replace(url)
  const form = document.createElement('form')
  form.method = 'post'
  form.action = url
  form.hidden = true
  form.append(...Object.entries(fields).map(([name, value]) => hiddenInput(name, value)))
  document.body.append(form)
  // Called by the prototype: a field may itself be named submit.
  HTMLFormElement.prototype.submit.call(form)
}

function hiddenInput(name: string, value: string): HTMLInputElement {
  const input = document.createElement('input')
  input.type = 'hidden'
  input.name = name
  input.value = value
  return input
}
