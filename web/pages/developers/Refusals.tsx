import type { ComponentChildren } from 'preact'
import { LocaleProvider } from '../../components/frame/Root.tsx'
import { useMessages } from './words.ts'

/** Adds the error messages that only the developer pages show. */
export function Refusals({ children }: { children: ComponentChildren }) {
  return <LocaleProvider refused={useMessages().refused}>{children}</LocaleProvider>
}
