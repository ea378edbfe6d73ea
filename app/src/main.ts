import './styles.css';

/** Milliseconds. A window that nobody sees paints nothing. */
const PAINTED_WITHIN = 100;

/** The page's ground is on the screen: what follows takes the engine some hundred milliseconds. */
const painted = new Promise<void>((resolve) => {
  setTimeout(resolve, PAINTED_WITHIN);
  requestAnimationFrame(() => setTimeout(resolve));
});

void painted.then(() => import('./begin')).then(({ begin }) => begin());
