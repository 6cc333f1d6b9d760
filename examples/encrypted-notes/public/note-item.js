import { attempt, find } from './screen.js'

/** A note in the list, with what the person may do with it. */
export function drawNote(note, { isMine, share, remove }) {
  const item = find('#note').content.firstElementChild.cloneNode(true)
  const [text, form, button] = ['.text', '.share', '.delete'].map((selector) => item.querySelector(selector))
  const isShut = note.text === undefined
  item.dataset.note = note.id
  text.id = `text-${note.id}`
  text.textContent = isShut ? 'This note does not open with the key that is in this browser.' : note.text
  text.classList.toggle('shut', isShut)
  item.querySelector('small').textContent = isMine ? describeReaders(note) : describeOwner(note)
  for (const control of item.querySelectorAll('input, button')) control.setAttribute('aria-describedby', text.id)
  form.hidden = !isMine || isShut
  button.hidden = !isMine
  form.addEventListener('submit', (event) => void attempt(event, () => share(note, form.elements.handle.value.trim())))
  button.addEventListener('click', (event) => void attempt(event, () => remove(note)))
  return item
}

function describeReaders({ text, readers }) {
  if (text === undefined) return 'Yours'
  return readers.length === 0 ? 'Only you' : `Shared with ${readers.map(({ handle }) => handle).join(', ')}`
}

function describeOwner({ owner }) {
  return `From ${owner.name} (${owner.handle})`
}
