// Charts of a report: zoom by dragging, hover to read, click on a name to hide it, double click to
// see all. Charts of one group share their time axis and cursor.
'use strict';
(() => {
  const numbers = (text, Kind) => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return Array.from(new Kind(bytes.buffer), v => Number.isFinite(v) ? v : null);
  };
  const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const light = ['#1b6ec2', '#c4570c', '#2b8a3e', '#9c36b5', '#b58900', '#c2255c', '#0c8599', '#666'];
  const dark = ['#6cb2ff', '#ffa35c', '#6fdc8c', '#dd9cf0', '#ffd24d', '#ff8fb3', '#5fd7e6', '#bbb'];
  const isDark = matchMedia('(prefers-color-scheme: dark)'), onPaper = matchMedia('print');
  const hidden = new Set();
  let charts = [];
  const build = (host, data) => {
    const times = numbers(data.time, Float64Array);
    const hues = isDark.matches && !onPaper.matches ? dark : light;
    const axis = () => ({stroke: color('--soft'), grid: {stroke: color('--grid'), width: 1},
                         ticks: {stroke: color('--grid')}});
    const digits = v => v == null ? '–' : v.toFixed(data.digits);
    const plot = new uPlot({
      tzDate: t => uPlot.tzDate(new Date(t * 1e3), 'UTC'),
      title: data.title, width: host.clientWidth, height: innerWidth < 600 ? 230 : data.height,
      scales: {x: {time: !!data.dates},
               y: {range: (u, low, high) => {
                 if (low == null) return [0, 1];
                 // What is nothing must not fill the chart.
                 const middle = (low + high) / 2, half = Math.max((high - low) / 2, data.least / 2);
                 return [middle - 1.06 * half, middle + 1.06 * half];
               }}},
      cursor: {sync: {key: data.group, setSeries: false}, drag: {x: true, y: false}},
      legend: {live: true},
      series: [data.dates ? {label: 'UTC', value: '{YYYY}-{MM}-{DD} {HH}:{mm}'}
                          : {label: data.along.startsWith('time') ? 's' : '%',
                             value: (u, v) => v == null ? '–' : v.toFixed(data.along.startsWith('time') ? 3 : 0)},
               ...data.series.map(s => ({
                 label: s.name, stroke: s.hue < 0 ? color('--truth') : hues[s.hue % hues.length],
                 width: s.hue < 0 || s.dash ? 1.2 : 1.6, dash: s.dash ? [6, 4] : undefined,
                 points: data.dates ? {show: true, size: 6} : {show: false},
                 paths: data.dates ? () => null : undefined, spanGaps: false, show: !hidden.has(s.key),
                 value: (u, v) => digits(v)}))],
      axes: [{...axis(), label: data.dates ? 'day, UTC' : data.along, labelSize: 18, labelFont: '12px system-ui'},
             {...axis(), label: data.unit, labelSize: 18, labelFont: '12px system-ui', size: 56}],
      hooks: {
        setScale: [(u, key) => {
          if (key !== 'x') return;
          const {min, max} = u.scales.x;
          for (const other of charts)
            if (other.plot !== u && other.data.group === data.group && other.plot.scales.x &&
                (other.plot.scales.x.min !== min || other.plot.scales.x.max !== max))
              other.plot.setScale('x', {min, max});
        }],
        setSeries: [(u, index, options) => {
          if (index == null || options.show == null) return;
          const key = data.series[index - 1].key;
          if (options.show === !hidden.has(key)) return;
          if (options.show) hidden.delete(key); else hidden.add(key);
          for (const other of charts)
            other.data.series.forEach((s, i) => {
              if (s.key === key && other.plot !== u) other.plot.setSeries(i + 1, {show: options.show});
            });
        }],
      },
    }, [times, ...data.series.map(s => numbers(s.values, Float32Array))], host);
    return {host, data, plot};
  };
  const draw = () => {
    for (const chart of charts) chart.plot.destroy();
    charts = [];
    for (const host of document.querySelectorAll('.chart'))
      charts.push(build(host, JSON.parse(host.previousElementSibling.textContent)));
  };
  draw();
  isDark.addEventListener('change', draw);
  onPaper.addEventListener('change', draw);
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const chart of charts)
      chart.plot.setSize({width: chart.host.clientWidth, height: chart.plot.height});
  });
})();
