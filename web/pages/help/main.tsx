import './help.css'
import './reference.css'
import { enableCopying } from './copying.ts'
import { enableSearch } from './finder.ts'
import { applyChosenTheme } from './theme.ts'

applyChosenTheme(document)
enableCopying(document)
enableSearch(document)
