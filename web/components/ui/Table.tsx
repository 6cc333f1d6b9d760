/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role --
   Rows that are displayed as cards are no table for screen readers without these roles. */
import type { ComponentChildren, Ref } from 'preact'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from './Icon.tsx'

export type Column<Row> = {
  key: string
  /** The head of the column. On phones it stands before the value, except in the first column. */
  label: string
  /** Set for a column of buttons: its head is not shown. */
  isActions?: boolean
  cell: (row: Row) => ComponentChildren
}

type Props<Row> = {
  caption: string
  columns: Column<Row>[]
  rows: Row[]
  keyOf: (row: Row) => string
  /** A list beside what it opens: two columns, of which one row is open. */
  isOpen?: (row: Row) => boolean
}

/**
 * A table in a flush card. Where there is no room for it, each row becomes a card of its own; the roles keep what it is
 * for screen readers then.
 */
export function Table<Row>({ caption, columns, rows, keyOf, isOpen }: Props<Row>) {
  return (
    <table class={isOpen ? 'table duo' : 'table'} role="table">
      <caption class="vh">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ key, label, isActions }) => (
            <th key={key} role="columnheader" scope="col" class={isActions ? 'end' : undefined}>
              {isActions ? <span class="vh">{label}</span> : label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" aria-current={isOpen?.(row) ? 'true' : undefined}>
            {columns.map(({ key, label, isActions, cell }, index) => (
              <td
                key={key}
                role="cell"
                class={isActions ? 'end' : undefined}
                data-label={index === 0 || isActions ? undefined : label}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type SearchProps = {
  label: string
  value: string
  onInput: (text: string) => void
  action?: string
  /** Gets the field, to focus it. */
  field?: Ref<HTMLInputElement>
}

/** The search field of a toolbar. */
export function Search({ label, value, onInput, action, field = null }: SearchProps) {
  return (
    <div class="affix">
      <Icon name="search" />
      <input
        ref={field}
        class="input"
        type="search"
        placeholder={label}
        aria-label={label}
        value={value}
        data-action={action}
        onInput={(event) => onInput(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
    </div>
  )
}

type FilterProps<Value> = {
  label: string
  of: { value: Value; label: string }[]
  chosen: Value
  onChoose: (value: Value) => void
  /** Called when the user may be about to open it, to read what there is to choose. */
  onOpen?: () => void
  action?: string
}

/** A select box of a toolbar. Its first value usually names what it filters, such as “All roles”. */
export function Filter<Value extends string>({ label, of, chosen, onChoose, onOpen, action }: FilterProps<Value>) {
  const choose = (written: string) => {
    const found = of.find(({ value }) => value === written)
    if (found) onChoose(found.value)
  }
  return (
    <select
      class="select"
      aria-label={label}
      value={chosen}
      data-action={action}
      onFocus={onOpen}
      onChange={({ currentTarget }) => choose(currentTarget.value)}
    >
      {of.map(({ value, label: text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  )
}

type PagerProps = {
  /** What is shown, such as “1–20 of 48”. */
  children: ComponentChildren
  onPrevious?: (() => void) | undefined
  onNext?: (() => void) | undefined
}

/** The foot of a list that has several pages. */
export function Pager({ children, onPrevious, onNext }: PagerProps) {
  const words = useMessages().frame
  return (
    <div class="card-foot">
      <span>{children}</span>
      <div class="pager">
        <button type="button" class="button" aria-disabled={!onPrevious} onClick={onPrevious}>
          <Icon name="chevron-left" size="sm" />
          {words.previous}
        </button>
        <button type="button" class="button" aria-disabled={!onNext} onClick={onNext}>
          {words.next}
          <Icon name="chevron-right" size="sm" />
        </button>
      </div>
    </div>
  )
}
