"use strict";

const config = (plot) => ({
  responsive: true,
  displaylogo: false,
  modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg", filename: plot.dataset.file },
});

const plots = [...document.querySelectorAll(".plot")];

for (const plot of plots) {
  const { data, layout } = JSON.parse(plot.nextElementSibling.textContent);
  Plotly.newPlot(plot, data, layout, config(plot));
  plot.closest("figure").querySelector("button").addEventListener("click", () =>
    Plotly.downloadImage(plot, {
      format: "svg",
      filename: plot.dataset.file,
      width: plot.clientWidth,
      height: plot.clientHeight,
    }),
  );
}

let folded = [];

addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
  for (const plot of plots) Plotly.relayout(plot, { width: plot.clientWidth });
});

addEventListener("afterprint", () => {
  for (const details of folded) details.open = false;
  for (const plot of plots) Plotly.relayout(plot, { width: null, autosize: true });
});
